"""The devices that a node can use, by the pools that drivers have published them in (ResourceSlices).

A pool is known whole when as many slices of its newest generation are there as they say themselves.
Source: `k8s.io/dynamic-resource-allocation/structured`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Node, NodeSelector
from setpoint.api.types.resource_v1 import Device, ResourceSlice
from setpoint.client.node_selectors import term_matches

DeviceKey = tuple[str, str, str]  # driver, pool, device


class Offer(Struct, frozen=True):
    """A device, and where it can be used: on one node, on those of a selector, or (neither) on all."""

    key: DeviceKey
    device: Device
    node_name: str = ""
    node_selector: NodeSelector | None = None


class Pool(Struct, frozen=True):
    """What of a pool a node can use; it is not `valid` when two devices have the same name."""

    driver: str
    name: str
    complete: bool
    valid: bool
    offers: Sequence[Offer]


def pools_for(node: Node, slices: Iterable[ResourceSlice]) -> list[Pool]:
    """Sorted by driver and name."""
    grouped: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in sorted(slices, key=lambda each: each.metadata.name):
        grouped.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
    pools = []
    for (driver, name), members in sorted(grouped.items()):
        newest = max(each.spec.pool.generation for each in members)
        current = [each for each in members if each.spec.pool.generation == newest]
        offers = [offer for each in current for offer in _offers(each, node)]
        if offers:
            names = [device.name for each in current for device in each.spec.devices]
            complete = len(current) == current[0].spec.pool.resource_slice_count
            pools.append(Pool(driver, name, complete, len({*names}) == len(names), offers))
    return pools


def _offers(published: ResourceSlice, node: Node) -> Iterable[Offer]:
    spec = published.spec
    for device in spec.devices:
        # What a device says of itself counts where the slice leaves it open.
        where = device if spec.per_device_node_selection else spec
        if not where.all_nodes and where.node_name != node.metadata.name and not _selects(where.node_selector, node):
            continue
        key = (spec.driver, spec.pool.name, device.name)
        yield Offer(key, device, where.node_name or "", None if where.all_nodes else where.node_selector)


def _selects(selector: NodeSelector | None, node: Node) -> bool:
    return selector is not None and any(term_matches(term, node) for term in selector.node_selector_terms or ())
