"""DynamicResources: a pod goes where the devices are that its resource claims ask for (KEP-4381, KEP-4816).

PreEnqueue keeps pods out whose claims are not there. Filter finds devices for the claims on each node (`scheduler.devices`);
Reserve keeps them from others, PreBind writes them down, and reserves the claims for the pod; Unreserve takes such reservations
back. PostFilter frees a claim of devices that are out of the pod's reach, when nobody else uses it.
Source: `plugins/dynamicresources` of kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from msgspec import Struct, field

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.resource_v1 import DEVICECLASSES, RESOURCECLAIMS, RESOURCESLICES, DeviceRequest, ResourceClaim
from setpoint.client.node_selectors import term_matches
from setpoint.client.transport import TransportError
from setpoint.scheduler.devices.allocator import AllocationError, Allocator, Gives, NodeFails, Suits
from setpoint.scheduler.devices.capacity import Share, Taken
from setpoint.scheduler.devices.claims import ClaimError, ClaimWriter, claims_of, devices_of, is_crowded, is_reserved, shares_of
from setpoint.scheduler.devices.extended import (
    ExtendedClaim,
    ExtendedResources,
    extended_claim,
    is_made_for,
    made_before,
    status_of,
)
from setpoint.scheduler.devices.pools import DeviceKey, Published
from setpoint.scheduler.devices.readiness import BindingFailed, has_conditions, is_ready, will_not_be_ready
from setpoint.scheduler.durations import seconds_of
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult, Victims, default_normalize
from setpoint.scheduler.plugin_config import DynamicResourcesArgs
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import SKIP, Diagnosis, Status, failed, unresolvable, unschedulable

MOST_ALTERNATIVES = 8  # of one request
NOT_ALL = unresolvable("cannot allocate all claims")
STALE = unresolvable("cannot schedule extended resource claim")
SEEN_SECONDS, LOOK_SECONDS = 10.0, 0.02  # how long a claim that was made may take to be seen, and how often to look
READY_SECONDS = 1.0  # between two looks at devices that are made ready
IN_USE = unresolvable("resourceclaim in use")
ELSEWHERE = unresolvable("resourceclaim not available on the node")


NOTHING_PUBLISHED = Published(())
NOTHING_TAKEN = Taken()


class PodClaims(Struct):
    """The pod's claims; which of them are to be allocated, and what each node would give them.

    `extended` are the resources that device classes stand for, `extra` the claim needed for them on each node, and what it
    gets; `stale` is such a claim that an earlier attempt left behind, `made` the one of this attempt.
    `elsewhere` are those whose devices some node does not reach, by uid; `written` are the claims as PreBind left them.
    """

    all: Sequence[ResourceClaim] = ()
    new: Sequence[ResourceClaim] = ()
    taken: Taken = NOTHING_TAKEN
    published: Published = NOTHING_PUBLISHED
    gives: dict[str, Sequence[Gives]] = field(default_factory=dict)
    suits: Suits = field(default_factory=dict)
    extended: Collection[str] = ()
    stale: ResourceClaim | None = None
    extra: dict[str, tuple[ExtendedClaim, Gives]] = field(default_factory=dict)
    made: list[ResourceClaim] = field(default_factory=list)
    elsewhere: dict[str, ResourceClaim] = field(default_factory=dict)
    written: dict[str, ResourceClaim] = field(default_factory=dict)


NOTHING = PodClaims()  # nobody writes to it: without claims there is nothing to note


class _Pending(Struct):
    """Devices on their way to a claim ("" for one that is still to be made); once written, the version that says so itself."""

    claim: str
    devices: frozenset[DeviceKey]
    shares: Sequence[tuple[DeviceKey, Share]] = ()
    version: int | None = None

    def is_over(self, known: ResourceClaim | None, uid: str) -> bool:
        """Whether what is known of the claim is newer, or it is gone. One that is still to be made is neither."""
        if not self.claim:
            return False
        if known is None or known.metadata.uid != uid:
            return True
        return self.version is not None and int(known.metadata.resource_version or 0) >= self.version


def _pending(claim: str, gives: Gives) -> _Pending:
    devices = frozenset(each.offer.key for each in gives if not each.wish.admin and each.share is None)
    return _Pending(claim, devices, [(each.offer.key, each.share) for each in gives if each.share is not None])


DEFAULT_ARGS = DynamicResourcesArgs()


class DynamicResources:
    """See the module."""

    name = "DynamicResources"

    def __init__(self, handle: Handle, args: DynamicResourcesArgs = DEFAULT_ARGS) -> None:
        self._patience = seconds_of(args.binding_timeout)
        self._recorder = handle.recorder
        self._claims = handle.listers.of(RESOURCECLAIMS)
        self._classes = handle.listers.of(DEVICECLASSES)
        self._slices = handle.listers.of(RESOURCESLICES)
        self._writer = ClaimWriter(handle.client, handle.clock)
        self._later = handle.later
        self._clock = handle.clock
        self._resources = ExtendedResources(handle.listers)
        self._pending: dict[str, _Pending] = {}  # by the claim's uid

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.spec.resource_claims:
            return None
        try:
            claims_of(pod, self._claims)
        except ClaimError as error:
            return unresolvable(str(error))
        return None

    # ---- filter

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        state.write(NOTHING)
        extended = self._extended(state)
        if not pod.spec.resource_claims and not extended:
            return None, SKIP
        try:
            claims = claims_of(pod, self._claims)
        except ClaimError as error:
            return None, unresolvable(str(error))
        if not claims and not extended:
            return None, SKIP
        if any(is_crowded(claim) and not is_reserved(claim, pod) for claim in claims):
            return None, IN_USE
        self._forget_written()
        new = [claim for claim in claims if claim.status.allocation is None]
        for claim in new:
            if claim.metadata.uid in self._pending:
                where = f"{claim.metadata.namespace}/{claim.metadata.name}"
                return None, unresolvable(f"resource claim {where} is in the process of being allocated")
            for request in claim.spec.devices.requests or ():
                if missing := self._missing_class(request):
                    return None, unresolvable(missing)
        found = PodClaims(claims, new, extended=extended)
        if extended:
            found.stale = made_before(pod, self._claims)
        if new or extended:
            found.taken, found.published = self._taken(), Published(self._slices.list())
        state.write(found)
        return None, None

    def _extended(self, state: CycleState) -> list[str]:
        """The resources the pod asks for that device classes stand for."""
        requests = state.info.requests
        return [
            name for name, amount in requests.items() if amount and "/" in name and self._resources.class_of(name) is not None
        ]

    def _missing_class(self, request: DeviceRequest) -> str:
        asked: Mapping[str, str] = {f"{request.name}/{each.name}": each.device_class_name for each in request.first_available}
        if request.exactly is not None:
            asked = {request.name: request.exactly.device_class_name}
        for name, class_name in asked.items():
            if self._classes.get(class_name) is None:
                return f"request {name}: device class {class_name} does not exist"
        return "" if asked else f"request {request.name}: unsupported request type"

    def _taken(self) -> Taken:
        devices: set[DeviceKey] = set()
        shares: dict[DeviceKey, tuple[Share, ...]] = {}
        for claim in self._claims.list():
            devices.update(devices_of(claim))
            for key, share in shares_of(claim):
                shares[key] = (*shares.get(key, ()), share)
        for pending in self._pending.values():
            known = self._claims.get(pending.claim)
            if known is not None and known.status.allocation is not None:
                continue  # seen before the answer to the write that says so
            devices |= pending.devices
            for key, share in pending.shares:
                shares[key] = (*shares.get(key, ()), share)
        return Taken(frozenset(devices), shares)

    def _forget_written(self) -> None:
        over = [uid for uid, each in self._pending.items() if each.is_over(self._claims.get(each.claim), uid)]
        for uid in over:
            del self._pending[uid]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        found = state.read(PodClaims)
        if found.stale is not None:
            return STALE
        wanted = [name for name in found.extended if not node.allocatable.get(name)]
        extra = extended_claim(pod, wanted, self._resources) if wanted else None
        claims = [*found.new, extra.claim] if extra is not None else found.new
        if claims:
            try:
                allocator = Allocator(found.published.pools_for(node.known), found.taken, self._classes.get, found.suits)
                gives = allocator.allocate(claims)
            except NodeFails as error:
                return unresolvable(str(error))
            except AllocationError as error:
                return failed(str(error))
            if gives is None:
                return NOT_ALL
            found.gives[node.name] = gives[: len(found.new)]
            if extra is not None:
                found.extra[node.name] = (extra, gives[-1])
        late = [claim for claim in found.all if will_not_be_ready(claim, self._clock.now(), self._patience)]
        elsewhere = {claim.metadata.uid: claim for claim in found.all if not _reaches(claim, node) or claim in late}
        found.elsewhere.update(elsewhere)
        return ELSEWHERE if elsewhere else None

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        found = state.find(PodClaims)
        if found is None:
            # An earlier plugin refused the pod for all nodes before this one was asked; Kubernetes says it thus.
            return None, failed("not found")
        if not found.all and not found.extended:
            return None, unschedulable("no new claims to deallocate")
        for claim in found.elsewhere.values():
            if all(each.uid == pod.metadata.uid for each in claim.status.reserved_for):
                name = f"{claim.metadata.namespace}/{claim.metadata.name}"
                self._later.append((f"devices of {name}", partial(self._writer.deallocate, claim)))
                return None, unschedulable("deallocation of ResourceClaim completed")
        if found.stale is not None:
            self._remove_later(found.stale)
            return None, unschedulable("deletion of ResourceClaim completed")
        return None, unschedulable("still not schedulable")

    def _remove_later(self, claim: ResourceClaim) -> None:
        self._later.append((f"end of {claim.metadata.namespace}/{claim.metadata.name}", partial(self._writer.remove, claim)))

    # ---- score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        if not pod.spec.resource_claims:
            return SKIP
        new = state.read(PodClaims).new
        return None if any(each.first_available for claim in new for each in claim.spec.devices.requests or ()) else SKIP

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """The better of the alternatives that the claims offer, the more."""
        found = state.read(PodClaims)
        total = 0
        for claim, gives in zip(found.new, found.gives[node.name], strict=True):
            served = {given.wish.name for given in gives}
            for request in claim.spec.devices.requests or ():
                for index, each in enumerate(request.first_available):
                    if f"{request.name}/{each.name}" in served:
                        total += MOST_ALTERNATIVES - index
        return total

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]:
        return default_normalize(scores)

    # ---- binding

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        found = state.find(PodClaims)
        if found is None:
            return None
        for claim, gives in zip(found.new, found.gives.get(node, ()), strict=True):
            self._pending[claim.metadata.uid] = _pending(f"{claim.metadata.namespace}/{claim.metadata.name}", gives)
        if node in found.extra:
            extra, gives = found.extra[node]
            self._pending[extra.claim.metadata.uid] = _pending("", gives)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        found = state.find(PodClaims)
        if found is None:
            return
        if node in found.extra:
            self._pending.pop(found.extra[node][0].claim.metadata.uid, None)
        for claim in found.made:
            self._remove_later(claim)
        for claim in found.new:
            pending = self._pending.get(claim.metadata.uid)
            if pending is not None and pending.version is None:  # else the claim has them, whatever becomes of the pod
                del self._pending[claim.metadata.uid]
        for known in found.all:
            claim = found.written.get(known.metadata.uid, known)
            if claim.status.allocation is not None and is_reserved(claim, pod):
                name = f"{claim.metadata.namespace}/{claim.metadata.name}"
                self._later.append((f"reservation of {name}", partial(self._writer.release, claim, pod)))

    def pre_flight(self, state: CycleState, pod: Pod, node: str) -> bool:
        found = state.find(PodClaims)
        return found is not None and (bool(found.all) or node in found.extra)

    async def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        found = state.find(PodClaims)
        if found is None or not (found.all or node in found.extra):
            return None
        gives = {claim.metadata.uid: each for claim, each in zip(found.new, found.gives.get(node, ()), strict=True)}
        try:
            for claim in found.all:
                if is_reserved(claim, pod):
                    continue
                uid = claim.metadata.uid
                found.written[uid] = written = await self._writer.bind(claim, pod, gives.get(uid))
                if uid in gives and uid in self._pending:
                    self._pending[uid].version = int(written.metadata.resource_version)
            if node in found.extra:
                await self._make_extra(found, pod, *found.extra[node])
            await self._until_ready(found, pod, node)
        except (BindingFailed, ClaimError, StatusError, TransportError) as error:
            return failed(str(error))
        return None

    async def _until_ready(self, found: PodClaims, pod: Pod, node: str) -> None:
        """Raises BindingFailed."""
        mine = {**{claim.metadata.uid: claim for claim in found.all}, **found.written}
        waiting = {uid: claim for uid, claim in mine.items() if has_conditions(claim)}
        if not waiting:
            return
        message = f"waiting for binding conditions for device on node {node}"
        self._recorder.event(pod, "Normal", "BindingConditionsPending", message, action="Scheduling")
        until = self._clock.monotonic() + self._patience
        while True:
            # What was written is newer than what is known just after the write.
            known = {uid: self._claims.get(f"{each.metadata.namespace}/{each.metadata.name}") for uid, each in waiting.items()}
            if all(_is_seen(each, waiting[uid]) and is_ready(each) for uid, each in known.items()):
                return
            if self._clock.monotonic() >= until:
                raise BindingFailed("device binding timeout")
            await self._clock.sleep(READY_SECONDS)

    async def _make_extra(self, found: PodClaims, pod: Pod, extra: ExtendedClaim, gives: Gives) -> None:
        """Others see its devices as taken until the claim itself is seen. Raises ClaimError, StatusError, TransportError."""
        claim = await self._writer.make(extra.body, pod.metadata.namespace)
        found.made.append(claim)
        found.written[claim.metadata.uid] = written = await self._writer.bind(claim, pod, gives)
        where, until = f"{claim.metadata.namespace}/{claim.metadata.name}", self._clock.monotonic() + SEEN_SECONDS
        while not _is_seen(self._claims.get(where), written) and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_SECONDS)
        self._pending.pop(extra.claim.metadata.uid, None)
        await self._writer.note(pod, dict(status_of(claim.metadata.name, extra.mappings)))

    # ---- events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(EventResource.RESOURCE_CLAIM, ~ActionType(0), self._claim_helps),
            ClusterEventWithHint(EventResource.NODE, ActionType.ADD | ActionType.LABEL),
            ClusterEventWithHint(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.OTHER),
            ClusterEventWithHint(EventResource.RESOURCE_SLICE, ActionType.ADD | ActionType.OTHER),
        )

    def _claim_helps(self, pod: Pod, event: ClusterEvent) -> bool:
        """A claim gave its devices back, one of the pod's own came or changed, or one made for it in vain is gone."""
        if event.new is None and event.old is not None and is_made_for(pod, event.old):
            return True
        freed = event.old is not None and event.old.status.allocation is not None
        if freed and (event.new is None or event.new.status.allocation is None):
            return True
        try:
            mine = {claim.metadata.uid for claim in claims_of(pod, self._claims)}
        except ClaimError:
            return False
        return event.new is not None and event.new.metadata.uid in mine


def _is_seen(known: ResourceClaim | None, written: ResourceClaim) -> bool:
    return known is not None and int(known.metadata.resource_version) >= int(written.metadata.resource_version)


def _reaches(claim: ResourceClaim, node: NodeInfo) -> bool:
    """What the claim has can be used on the node."""
    allocation = claim.status.allocation
    selector = allocation.node_selector if allocation is not None else None
    return selector is None or any(term_matches(term, node.known) for term in selector.node_selector_terms or ())
