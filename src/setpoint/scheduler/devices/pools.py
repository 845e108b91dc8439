"""The devices that a node can use, by the pools that drivers have published them in (ResourceSlices).

A pool is known whole when as many slices of its newest generation are there as they say themselves.
Source: `k8s.io/dynamic-resource-allocation/structured`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import Node, NodeSelector
from setpoint.api.types.resource_v1 import Counter, Device, ResourceSlice
from setpoint.client.node_selectors import term_matches

DeviceKey = tuple[str, str, str]  # driver, pool, device
CounterName = tuple[str, str]  # set, counter


class Offer(Struct, frozen=True):
    """A device, and where it can be used: on one node, on those of a selector, or (neither) on all."""

    key: DeviceKey
    device: Device
    node_name: str = ""
    node_selector: NodeSelector | None = None

    @property
    def is_shared(self) -> bool:
        """Several may have it at a time."""
        return self.device.allow_multiple_allocations is True


class Pool(Struct, frozen=True):
    """What of a pool a node can use; it is not `valid` when two devices have the same name."""

    driver: str
    name: str
    complete: bool
    valid: bool
    offers: Sequence[Offer]
    counters: Mapping[CounterName, int] = {}
    consuming: Mapping[DeviceKey, Mapping[CounterName, int]] = {}

    @property
    def has_conditions(self) -> bool:
        return any(offer.device.binding_conditions for offer in self.offers)

    def has_left(self, key: DeviceKey, others: Iterable[DeviceKey]) -> bool:
        """Whether the shared counters suffice for one more device besides `others` (KEP-4815)."""
        needed = dict(self.consuming[key])
        for other in others:
            for name, amount in self.consuming.get(other, {}).items():
                if name in needed:
                    needed[name] += amount
        return self.complete and all(amount <= self.counters.get(name, -1) for name, amount in needed.items())


class Published:
    """All pools, sorted by driver and name; most of them are one node's own."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        grouped: dict[tuple[str, str], list[ResourceSlice]] = {}
        for each in sorted(slices, key=lambda each: each.metadata.name):
            grouped.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
        self._local: dict[str, list[Sequence[ResourceSlice]]] = {}
        self._others: list[Sequence[ResourceSlice]] = []
        for _, members in sorted(grouped.items()):
            newest = max(each.spec.pool.generation for each in members)
            current = [each for each in members if each.spec.pool.generation == newest]
            owners = {each.spec.node_name for each in current}
            owner = owners.pop() if len(owners) == 1 else None
            (self._local.setdefault(owner, []) if owner else self._others).append(current)

    def pools_for(self, node: Node) -> list[Pool]:
        """What the node can use, sorted by driver and name; pools with devices that are to be made ready first come last."""
        candidates = [*self._local.get(node.metadata.name, ()), *self._others]
        pools = [pool for pool in (_pool(current, node) for current in candidates) if pool.offers]
        return sorted(pools, key=lambda pool: (pool.has_conditions, pool.driver, pool.name))


def _pool(current: Sequence[ResourceSlice], node: Node) -> Pool:
    spec = current[0].spec
    offers = [offer for each in current for offer in _offers(each, node)]
    if not offers:
        return Pool(spec.driver, spec.pool.name, complete=True, valid=True, offers=())
    counters = {
        (each.name, counter): _nanos(value)
        for one in current
        for each in one.spec.shared_counters
        for counter, value in each.counters.items()
    }
    names = [device.name for each in current for device in each.spec.devices]
    complete, valid = len(current) == spec.pool.resource_slice_count, len({*names}) == len(names)
    return Pool(spec.driver, spec.pool.name, complete, valid, offers, counters, _consuming(current))


def _consuming(slices: Sequence[ResourceSlice]) -> dict[DeviceKey, dict[CounterName, int]]:
    """What of the pool's shared counters its devices take, wherever they are."""
    return {
        (each.spec.driver, each.spec.pool.name, device.name): {
            (taken.counter_set, counter): _nanos(value)
            for taken in device.consumes_counters
            for counter, value in taken.counters.items()
        }
        for each in slices
        for device in each.spec.devices
        if device.consumes_counters
    }


def _nanos(counter: Counter) -> int:
    return parse(counter.value).nanos


def _offers(published: ResourceSlice, node: Node) -> Iterable[Offer]:
    spec = published.spec
    for device in spec.devices:
        # What a device says of itself counts where the slice leaves it open.
        where = device if spec.per_device_node_selection else spec
        if not where.all_nodes and where.node_name != node.metadata.name and not _selects(where.node_selector, node):
            continue
        key = (spec.driver, spec.pool.name, device.name)
        own = node.metadata.name if device.binds_to_node else where.node_name or ""
        yield Offer(key, device, own, None if where.all_nodes else where.node_selector)


def _selects(selector: NodeSelector | None, node: Node) -> bool:
    return selector is not None and any(term_matches(term, node) for term in selector.node_selector_terms or ())
