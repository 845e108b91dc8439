"""ImageLocality: rather where the images are already, the more so the larger they are and the more nodes have them."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import MAX_SCORE, CycleState, Handle
from setpoint.scheduler.snapshot import NodeInfo, Snapshot
from setpoint.scheduler.status import SKIP, Status

MEGABYTE = 1024 * 1024
SMALLEST = 23 * MEGABYTE  # images up to this size are not worth a detour
LARGEST_PER_IMAGE = 1000 * MEGABYTE


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
        if not having:
            return SKIP
        images = _images(pod)
        if not any(map(having.__getitem__, images)):
            return SKIP
        state.write(images)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        if not node.image_sizes:
            return 0
        images = state.read(_Images)
        present = sum(_spread_size(self._snapshot, node, image) for image in images)
        largest = LARGEST_PER_IMAGE * len(images)
        clamped = min(max(present, SMALLEST), largest)
        return MAX_SCORE * (clamped - SMALLEST) // (largest - SMALLEST)


class _Images(tuple[str, ...]):
    """What the pod's containers run and its volumes hold."""

    __slots__ = ()


def _images(pod: Pod) -> _Images:
    spec = pod.spec
    names = [container.image for container in (*spec.init_containers, *spec.containers)]
    names += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return _Images(map(normalized_name, names))


def _spread_size(snapshot: Snapshot, node: NodeInfo, image: str) -> int:
    """The image's size, scaled down by the part of the nodes that have it, lest one node draws all pods."""
    size = node.image_sizes.get(image, 0)
    if not size:
        return 0
    return int(size * (snapshot.image_nodes[image] / len(snapshot.nodes)))
