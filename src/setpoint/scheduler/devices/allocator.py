"""Finds devices of one node for a pod's claims: all that they ask for, or nothing. Pure.

Requests are served in their order, devices tried in theirs, and the search goes back when a later request finds nothing. Of a
request's alternatives (`firstAvailable`) the first is taken with which all can be served.
A device that several may have is given by shares of its capacity.
Source: `k8s.io/dynamic-resource-allocation/structured`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.resource_v1 import (
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from setpoint.scheduler.devices.capacity import Share, Taken, has_left, share_of
from setpoint.scheduler.devices.pools import DeviceKey, Offer, Pool
from setpoint.scheduler.devices.selectors import SelectorError, plain, selects

MOST_DEVICES = 32  # for one claim
MOST_STEPS = 5000  # of the search on one node: where Kubernetes looks for ten seconds, here others wait


class AllocationError(Exception):
    """Nobody can say whether the devices would do: an expression fails, or a pool is not known whole."""


class NodeFails(AllocationError):
    """The same, but of this node alone."""


class Wish(Struct, frozen=True):
    """One way to serve a request; `name` is as results have it."""

    name: str
    device_class: DeviceClass
    count: int  # 0 for all there are
    selectors: Sequence[DeviceSelector] = ()
    tolerations: Sequence[DeviceToleration] = ()
    capacity: Mapping[str, str] = {}
    admin: bool | None = None


class Given(Struct, frozen=True):
    """A device for a claim's wish, as a whole or a share of it."""

    wish: Wish
    offer: Offer
    share: Share | None = None


Gives = list[Given]
Classes = Callable[[str], DeviceClass | None]
#: whether a device is one of those that a claim's wish means, by the claim's uid, the wish's name and the device
Suits = MutableMapping[tuple[str, str, DeviceKey], bool]


def wishes_of(request: DeviceRequest, classes: Classes) -> list[Wish]:
    """The ways to serve a request, the best first. All classes are there: the caller has looked."""
    if request.exactly is not None:
        return [_wish(request.name, request.exactly, classes, request.exactly.admin_access)]
    return [_wish(f"{request.name}/{each.name}", each, classes) for each in request.first_available]


def _wish(name: str, asked: ExactDeviceRequest | DeviceSubRequest, classes: Classes, admin: bool | None = None) -> Wish:
    found = classes(asked.device_class_name)
    if found is None:
        raise AllocationError(f"request {name}: device class {asked.device_class_name} does not exist")
    count = 0 if asked.allocation_mode == "All" else asked.count or 1
    capacity = asked.capacity.requests if asked.capacity is not None else {}
    return Wish(name, found, count, asked.selectors, asked.tolerations, capacity, admin)


class Allocator:
    """For one node. `taken` is what other claims have; `suits` is what was found out for the pod on other nodes."""

    def __init__(self, pools: Sequence[Pool], taken: Taken, classes: Classes, suits: Suits) -> None:
        self._pools = pools
        self._taken = taken
        self._classes = classes
        self._given: dict[DeviceKey, list[str]] = {}  # the uids of the claims that got it as a whole
        self._shares: dict[DeviceKey, list[Share]] = {}
        self._suits = suits
        self._steps = 0

    def allocate(self, claims: Sequence[ResourceClaim]) -> list[Gives] | None:
        """What each claim gets, None if they cannot all be served. Raises AllocationError."""
        for found in self._claims(claims):
            return found
        if not all(pool.valid for pool in self._pools):
            raise NodeFails("invalid resource pools were encountered")
        return None

    def _claims(self, claims: Sequence[ResourceClaim]) -> Iterator[list[Gives]]:
        if not claims:
            yield []
            return
        claim, rest = claims[0], claims[1:]
        options = [wishes_of(request, self._classes) for request in claim.spec.devices.requests or ()]
        for gives in self._requests(claim, options, []):
            for others in self._claims(rest):
                yield [gives, *others]

    def _requests(self, claim: ResourceClaim, options: Sequence[Sequence[Wish]], before: Gives) -> Iterator[Gives]:
        if not options:
            yield before
            return
        for wish in options[0]:
            for gives in self._wish(claim, wish, before):
                yield from self._requests(claim, options[1:], gives)

    def _wish(self, claim: ResourceClaim, wish: Wish, before: Gives) -> Iterator[Gives]:
        if wish.count:
            yield from self._some(claim, wish, before, [*self._offers(claim, wish)], wish.count)
            return
        for pool in self._pools:
            if problem := "being updated" if not pool.complete else "" if pool.valid else "invalid":
                meta, where = claim.metadata, f"{pool.driver}/{pool.name}"
                asked = f"claim {meta.namespace}/{meta.name}, request {wish.name}: asks for all devices"
                raise AllocationError(f"{asked}, but resource pool {where} is currently {problem}")
        offers = [*self._offers(claim, wish)]
        if offers:
            yield from self._some(claim, wish, before, offers, len(offers))

    def _some(self, claim: ResourceClaim, wish: Wish, before: Gives, offers: Sequence[Offer], count: int) -> Iterator[Gives]:
        if not count:
            yield before
            return
        for index, offer in enumerate(offers):
            if len(offers) - index < count:
                return
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise NodeFails("timed out trying to allocate devices")
            given = Given(wish, offer, share_of(offer.device, wish.capacity) if offer.is_shared else None)
            gives = [*before, given]
            if len(gives) > MOST_DEVICES or not self._is_free(claim, given) or _is_tainted(offer.device, wish):
                continue
            if not all(_holds(each, gives) for each in claim.spec.devices.constraints):
                if not wish.count:
                    where, name = "/".join(offer.key), wish.name.rpartition("/")[2]
                    why = f"cannot add device {where} because a claim constraint would not be satisfied"
                    raise AllocationError(f"claim {claim.metadata.namespace}/{claim.metadata.name}, request {name}: {why}")
                continue
            holders: list[Any] = self._holders(offer)
            holders.append(claim.metadata.uid if given.share is None else given.share)
            yield from self._some(claim, wish, gives, offers[index + 1 :], count - 1)
            holders.pop()

    def _holders(self, offer: Offer) -> list[Any]:
        """Who has it in this search: claims, or shares."""
        return (self._shares if offer.is_shared else self._given).setdefault(offer.key, [])

    def _is_free(self, claim: ResourceClaim, given: Given) -> bool:
        """It, and what it shares with other devices."""
        offer, key = given.offer, given.offer.key
        if given.share is not None:
            others = [*self._taken.shares.get(key, ()), *self._shares.get(key, ())]
            return has_left(offer.device, given.share, others) and (bool(others) or self._has_counters(offer))
        holders = self._given.get(key, ())
        if given.wish.admin:
            return claim.metadata.uid not in holders
        return key not in self._taken.devices and not holders and self._has_counters(offer)

    def _has_counters(self, offer: Offer) -> bool:
        if not offer.device.consumes_counters:
            return True
        pool = next(each for each in self._pools if (each.driver, each.name) == offer.key[:2])
        in_search = [key for key, holders in (*self._given.items(), *self._shares.items()) if holders]
        return pool.has_left(offer.key, (*self._taken.devices, *self._taken.shares, *in_search))

    def _offers(self, claim: ResourceClaim, wish: Wish) -> Iterator[Offer]:
        for pool in self._pools:
            if not pool.valid or not pool.complete:
                continue
            for offer in pool.offers:
                key = (claim.metadata.uid, wish.name, offer.key)
                known = self._suits.get(key)
                if known is None:
                    known = self._suits[key] = _suits(claim, wish, offer)
                if known:
                    yield offer


def _suits(claim: ResourceClaim, wish: Wish, offer: Offer) -> bool:
    device = offer.device
    if share_of(device, wish.capacity) is None:
        return False
    meta = claim.metadata
    sources = (
        (f"class {wish.device_class.metadata.name}", wish.device_class.spec.selectors),
        (f"claim {meta.namespace}/{meta.name}", wish.selectors),
    )
    for source, selectors in sources:
        for index, selector in enumerate(selectors):
            try:
                if selector.cel is not None and not selects(selector.cel.expression, offer.key[0], device):
                    return False
            except SelectorError as error:
                raise AllocationError(f"{source}: selector #{index}: {error}") from error
    return True


def _is_tainted(device: Device, wish: Wish) -> bool:
    kept = [taint for taint in device.taints if taint.effect in ("NoSchedule", "NoExecute")]
    return any(not _tolerated(taint, wish.tolerations) for taint in kept)


def _tolerated(taint: DeviceTaint, tolerations: Sequence[DeviceToleration]) -> bool:
    for each in tolerations:
        if each.effect and each.effect != taint.effect:
            continue
        if each.key and each.key != taint.key:
            continue
        if each.operator == "Exists" or (each.key and each.value == taint.value):
            return True
    return False


def _holds(constraint: DeviceConstraint, gives: Gives) -> bool:
    """Whether the devices of the constraint's requests (all, if it names none) have the same value, or different ones."""
    attribute = constraint.match_attribute or constraint.distinct_attribute
    if attribute is None:
        return False  # of a kind that is not known
    values = []
    for given in gives:
        request = given.wish.name
        if constraint.requests and not {request, request.partition("/")[0]} & {*constraint.requests}:
            continue
        value = _attribute(given.offer, attribute)
        if value is None:
            return False
        values.append((type(value), value))
    return len({*values}) <= 1 if constraint.match_attribute else len({*values}) == len(values)


def _attribute(offer: Offer, name: str) -> bool | int | str | None:
    found = offer.device.attributes.get(name)
    domain, _, identifier = name.partition("/")
    if found is None and domain == offer.key[0]:
        found = offer.device.attributes.get(identifier)
    return plain(found) if found is not None else None
