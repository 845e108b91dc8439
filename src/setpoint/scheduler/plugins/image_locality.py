"""ImageLocality: rather where the images are already, the more so the larger they are and the more nodes have them."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle
from setpoint.scheduler.snapshot import NodeInfo, Snapshot
from setpoint.scheduler.status import SKIP, Status

MEGABYTE = 1024 * 1024
SMALLEST = 23 * MEGABYTE  # images up to this size, per container, are not worth a detour
LARGEST_PER_CONTAINER = 1000 * MEGABYTE


def normalized_name(image: str) -> str:
    """The name that nodes report: with a tag."""
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"


class ImageLocality:
    """See the module."""

    name = "ImageLocality"

    def __init__(self, handle: Handle) -> None:
        self._snapshot = handle.snapshot

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        having = self._snapshot.image_nodes
        known = any(having[normalized_name(each.image)] for each in (*pod.spec.init_containers, *pod.spec.containers))
        return None if known else SKIP

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        if not node.image_sizes:
            return 0
        containers = [*pod.spec.init_containers, *pod.spec.containers]
        present = sum(_spread_size(self._snapshot, node, normalized_name(each.image)) for each in containers)
        largest = LARGEST_PER_CONTAINER * len(containers)
        clamped = min(max(present, SMALLEST), largest)
        return MAX_SCORE * (clamped - SMALLEST) // (largest - SMALLEST)


def _spread_size(snapshot: Snapshot, node: NodeInfo, image: str) -> int:
    """The image's size, scaled down by the part of the nodes that have it, lest one node draws all pods."""
    size = node.image_sizes.get(image, 0)
    if not size:
        return 0
    return int(size * (snapshot.image_nodes[image] / len(snapshot.nodes)))
