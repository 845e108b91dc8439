"""What must hold at every revision, whatever fails and whoever restarts; checked on every write of a store.

async with Invariants(store, clock) as invariants:
...
assert not invariants.violations
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Self, TypedDict

import msgspec
import orjson

from setpoint.kit.clock import Clock
from setpoint.storage.protocol import Event, Record, Store, Watch

Object = Mapping[str, Any]
DESIRED_WINDOW = 60.0
"""Seconds that a component may still act on an older `spec.replicas`: longer than any delay that faults cause."""
_MAXIMUM = "deployment.kubernetes.io/max-replicas"
_GENERATED = {"deployments.apps", "replicasets.apps"}
_FREQUENT = ("leases.coordination.k8s.io/", "nodes/", "events/")
"""Of these only the metadata has rules: the rest is not read."""


class _Metadata(TypedDict, total=False):
    """What the rules for all objects look at."""

    uid: str
    resourceVersion: str
    generation: int
    creationTimestamp: str
    deletionTimestamp: str
    ownerReferences: list[dict[str, Any]]


class _Frequent(TypedDict):
    """What is read of an object that is written all the time."""

    metadata: _Metadata


_METADATA = msgspec.json.Decoder(_Frequent)


def _decoded(key: str, value: bytes) -> Object:
    found: Object = _METADATA.decode(value) if key.startswith(_FREQUENT) else orjson.loads(value)
    return found


def _differs_in_version(old: Object, new: Object) -> bool:
    """Whether nothing that was read of an object has changed but its resourceVersion."""
    before, after = old["metadata"], new["metadata"]
    return bool({**before, "resourceVersion": after["resourceVersion"]} == after)


class Following:
    """Follows a store within a block: what it holds at the beginning, then every write."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._task: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        page = await self._store.list("")
        self.begin(page.records, page.revision)
        self._task = asyncio.ensure_future(self._follow(page.revision))
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self, after: int) -> None:
        async with await self._store.watch("", after=after, capacity=1_000_000) as watch:
            while True:
                self.take(await watch.next())

    def goes_on(self) -> None:
        """Raise what ended the following, if it has ended: nothing would be seen any more."""
        if self._task is not None and self._task.done():
            self._task.result()

    def begin(self, records: Iterable[Record], revision: int) -> None:
        raise NotImplementedError

    def take(self, events: Iterable[Event]) -> None:
        raise NotImplementedError


class Invariants(Following):
    """Notes what must not be. `slack` says how many pods may be too many: creates whose answer was lost."""

    def __init__(self, store: Store, clock: Clock, slack: Callable[[], int] = lambda: 0) -> None:
        super().__init__(store)
        self.violations: list[str] = []
        self._clock = clock
        self._slack = slack
        self._objects: dict[str, Object] = {}
        self._owned: dict[str, set[str]] = defaultdict(set)
        self._uids: set[str] = set()
        self._revision = 0
        self._desired: dict[str, list[tuple[float, int]]] = defaultdict(list)

    def begin(self, records: Iterable[Record], revision: int) -> None:
        for record in records:
            self._remember(record.key, None, _decoded(record.key, record.value))
        self._revision = revision

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            self.check(event)

    # -- the checks

    def check(self, event: Event) -> None:
        """Take one write into account."""
        if event.revision <= self._revision:
            self._note(event, f"revision {event.revision} after {self._revision}")
        self._revision = event.revision
        old = self._objects.pop(event.key, None)
        if event.record is None:
            self._remember(event.key, old, None)
            return
        new = _decoded(event.key, event.record.value)
        if new["metadata"]["resourceVersion"] != str(event.revision):
            self._note(event, f"resourceVersion {new['metadata']['resourceVersion']} at revision {event.revision}")
        if old is not None and event.key.startswith(_FREQUENT) and _differs_in_version(old, new):
            self._objects[event.key] = new  # a heartbeat, as most writes are: all else that the rules ask for is as it was
            return
        self._remember(event.key, old, new)
        for problem in (*_metadata(old, new), *_generations(event.key, old, new), *_pod(event.key, old, new)):
            self._note(event, problem)
        self._fresh(event, old, new)
        if event.key.startswith("replicasets.apps/"):
            self._replica_set(event, old, new)
        elif event.key.startswith("pods/") and old is None:
            self._pod_made(event, new)

    def _note(self, event: Event, problem: str) -> None:
        self.violations.append(f"at {self._clock.monotonic():.3f} s, revision {event.revision}, {event.key}: {problem}")

    def _fresh(self, event: Event, old: Object | None, new: Object) -> None:
        uid = new["metadata"]["uid"]
        if old is None:
            if uid in self._uids:
                self._note(event, f"uid {uid} is used again")
            self._uids.add(uid)

    def _replica_set(self, event: Event, old: Object | None, new: Object) -> None:
        """A Deployment never lets its ReplicaSets ask for more pods than its surge allows, as it last knew it."""
        replicas = _replicas(new)
        history = self._desired[new["metadata"]["uid"]]
        if not history or history[-1][1] != replicas:
            history.append((self._clock.monotonic(), replicas))
        owner = _controller(new)
        if owner is None or replicas <= (_replicas(old) if old is not None else 0):
            return
        siblings = self._controlled("replicasets.apps/", owner["uid"])
        total = sum(map(_replicas, siblings))
        allowed = int(new["metadata"].get("annotations", {}).get(_MAXIMUM, total))
        if total > allowed:
            sizes = {each["metadata"]["name"]: _replicas(each) for each in siblings}
            self._note(event, f"{total} replicas asked for, {allowed} allowed: {sizes}")

    def _pod_made(self, event: Event, pod: Object) -> None:
        """A ReplicaSet never makes more pods than it was lately asked for."""
        owner = _controller(pod)
        if owner is None or owner["kind"] != "ReplicaSet":
            return
        now = self._clock.monotonic()
        history = self._desired.get(owner["uid"])
        if history is None:
            return
        recent = [replicas for since, replicas in history[:-1] if since > now - DESIRED_WINDOW]
        before = [replicas for since, replicas in history if since <= now - DESIRED_WINDOW]
        most = max([history[-1][1], *recent, *before[-1:]])
        active = [each for each in self._controlled("pods/", owner["uid"]) if is_active(each)]
        if len(active) > most + self._slack():
            self._note(event, f"{owner['name']} has {len(active)} pods, at most {most} were asked for")

    def _controlled(self, prefix: str, uid: str) -> list[Object]:
        return [self._objects[key] for key in sorted(self._owned.get(uid, ())) if key.startswith(prefix)]

    def _remember(self, key: str, old: Object | None, new: Object | None) -> None:
        """Keep the object, and whose it is."""
        if new is not None:
            self._objects[key] = new
        if new is not None and old is not None and _owners(old) == _owners(new):
            return
        was, now = (_controller(each) if each is not None else None for each in (old, new))
        if was is not None and was != now:
            self._owned[was["uid"]].discard(key)
        if now is not None:
            self._owned[now["uid"]].add(key)


def is_active(pod: Object) -> bool:
    """It has not ended, and nobody has deleted it."""
    return "deletionTimestamp" not in pod["metadata"] and pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}


def _replicas(replica_set: Object) -> int:
    return int(replica_set["spec"].get("replicas", 1))


def _owners(obj: Object) -> Any:
    return obj["metadata"].get("ownerReferences", ())


def _controller(obj: Object) -> Any:
    return next((ref for ref in _owners(obj) if ref.get("controller")), None)


def _metadata(old: Object | None, new: Object) -> Iterable[str]:
    controllers = [ref for ref in _owners(new) if ref.get("controller")]
    if len(controllers) > 1:
        yield f"two controllers: {controllers}"
    if old is None:
        return
    before, after = old["metadata"], new["metadata"]
    for field in ("uid", "creationTimestamp"):
        if before.get(field) != after.get(field):
            yield f"{field} changed from {before.get(field)} to {after.get(field)}"
    if "deletionTimestamp" in before and "deletionTimestamp" not in after:
        yield "it was being deleted and is no longer"
    if _owners(old) == _owners(new):
        return
    was, now = _controller(old), _controller(new)
    if was is not None and now is not None and was["uid"] != now["uid"]:
        yield f"its controller changed from {was['name']} to {now['name']} without a release"


def _generations(key: str, old: Object | None, new: Object) -> Iterable[str]:
    generation = new["metadata"].get("generation", 0)
    observed = (new.get("status") or {}).get("observedGeneration", 0)
    if observed > generation and key.partition("/")[0] in _GENERATED:
        yield f"generation {observed} observed, {generation} is the newest"
    if old is None:
        return
    before = old["metadata"].get("generation", 0)
    if generation < before:
        yield f"generation went from {before} back to {generation}"
    if key.partition("/")[0] in _GENERATED:
        if observed < (old.get("status") or {}).get("observedGeneration", 0):
            yield f"observedGeneration went back to {observed}"
        if old["spec"] != new["spec"] and generation != before + 1:
            yield f"spec changed, generation went from {before} to {generation}"


def _pod(key: str, old: Object | None, new: Object) -> Iterable[str]:
    if old is None or not key.startswith("pods/"):
        return
    node = old["spec"].get("nodeName")
    if node and new["spec"].get("nodeName") != node:
        yield f"moved from {node} to {new['spec'].get('nodeName')}"
    phase, now = old.get("status", {}).get("phase"), new.get("status", {}).get("phase")
    if phase in {"Succeeded", "Failed"} and now != phase:
        yield f"came back from {phase} to {now}"


class Quiet:
    """Notes the writes of a time in which there should be none.

    Leases and unchanged node conditions are heartbeats; that old events go is nobody's work.
    """

    def __init__(self, store: Store) -> None:
        self.writes: list[str] = []
        self._store = store
        self._watch: Watch | None = None

    async def __aenter__(self) -> Self:
        self._watch = await self._store.watch("", after=self._store.revision, capacity=1_000_000)
        await self._watch.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._watch is None:
            return
        while events := self._watch.ready():
            writes = (f"revision {event.revision}: {event.key}" for event in events if not _is_heartbeat(event))
            self.writes.extend(writes)
        await self._watch.__aexit__(*error)


def _is_heartbeat(event: Event) -> bool:
    if event.key.startswith("leases.coordination.k8s.io/"):
        return True
    if event.key.startswith("events/") and event.record is None:
        return True  # its hour is over: the store lets it go by itself
    if not event.key.startswith("nodes/") or event.record is None or event.previous is None:
        return False
    return _without_times(event.previous.value) == _without_times(event.record.value)


def _without_times(value: bytes) -> Object:
    node = orjson.loads(value)
    for field in ("resourceVersion", "managedFields"):
        node["metadata"].pop(field, None)
    for condition in node["status"].get("conditions", ()):
        condition.pop("lastHeartbeatTime", None)
    found: Object = node
    return found
