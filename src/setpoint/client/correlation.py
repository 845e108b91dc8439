"""Which events become objects: similar ones are combined, repeated ones counted, floods cut off.

Two schools, as in Kubernetes. `CountCorrelator` is client-go's EventCorrelator (kubelet, controllers): a repeated event raises
`count`; ten different messages of one reason within ten minutes become one "(combined from similar events)"; beyond a burst
of 25, one object gets one event in five minutes. `SeriesCorrelator` is that of the newer events API (scheduler): repetition is
a `series`.

Both are plain state machines over the events as JSON; `now` comes from the caller.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field

from setpoint.kit.clock import rfc3339, rfc3339_micro

V = TypeVar("V")
Event = dict[str, Any]

CACHE = 4096
SIMILAR = 10
SIMILAR_SECONDS = 600.0
BURST = 25
PER_SECOND = 1 / 300
SERIES_SECONDS = 360.0
SERIES_REFRESH = 1800.0
COMBINED = "(combined from similar events): "


class Send(Struct, frozen=True):
    """Create `event`, or where `patch` is set, patch the event of that name (and create it if it is gone)."""

    event: Event
    patch: Event | None = None


class Correlator(Protocol):
    """Decides what to send for an event; None for nothing."""

    def correlate(self, event: Event, now: float) -> Send | None: ...


class _Lru(Generic[V]):
    """A bounded memory: the least recently used entry goes."""

    def __init__(self, capacity: int = CACHE) -> None:
        self._entries: OrderedDict[Hashable, V] = OrderedDict()
        self._capacity = capacity

    def get(self, key: Hashable) -> V | None:
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, key: Hashable, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)


class _Similar(Struct):
    messages: set[str] = field(default_factory=set)
    last: float = 0.0


class _Bucket(Struct):
    tokens: float
    last: float


class _Seen(Struct, frozen=True):
    name: str
    count: int
    first: str


class CountCorrelator:
    """Combines, counts and limits, in this order."""

    def __init__(self) -> None:
        self._similar: _Lru[_Similar] = _Lru()
        self._seen: _Lru[_Seen] = _Lru()
        self._buckets: _Lru[_Bucket] = _Lru()

    def correlate(self, event: Event, now: float) -> Send | None:
        key = self._combine(event, now)
        send = self._count(key, event)
        return send if self._allow(event, now) else None

    def _combine(self, event: Event, now: float) -> Hashable:
        """The key under which the event is counted; its message changes where it stands for many."""
        key = (*_about(event), event["type"], event["reason"])
        record = self._similar.get(key)
        if record is None or now - record.last > SIMILAR_SECONDS:
            record = _Similar()
        record.messages.add(event["message"])
        record.last = now
        self._similar.put(key, record)
        if len(record.messages) < SIMILAR:
            return (*key, event["involvedObject"].get("fieldPath"), event["message"])
        record.messages.pop()
        event["message"] = COMBINED + event["message"]
        return key

    def _count(self, key: Hashable, event: Event) -> Send:
        seen = self._seen.get(key)
        if seen is None:
            self._seen.put(key, _Seen(event["metadata"]["name"], 1, event["firstTimestamp"]))
            return Send(event)
        event["metadata"]["name"] = seen.name
        event["count"] = seen.count + 1
        event["firstTimestamp"] = seen.first
        self._seen.put(key, _Seen(seen.name, seen.count + 1, seen.first))
        changed = ("count", "lastTimestamp", "message")
        return Send(event, {name: event[name] for name in changed})

    def _allow(self, event: Event, now: float) -> bool:
        """A token bucket per source and object."""
        key = _about(event)
        bucket = self._buckets.get(key) or _Bucket(BURST, now)
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.last) * PER_SECOND)
        bucket.last = now
        self._buckets.put(key, bucket)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _about(event: Event) -> tuple[Any, ...]:
    source, about = event.get("source") or {}, event["involvedObject"]
    return (
        source.get("component"),
        source.get("host"),
        *(about.get(name) for name in ("kind", "namespace", "name", "uid", "apiVersion")),
    )


class _Series(Struct):
    event: Event
    count: int
    last: float
    sent: float


class SeriesCorrelator:
    """The first of equal events is created, the second begins a series, later ones are counted and sent every half hour."""

    def __init__(self) -> None:
        self._known: _Lru[_Series] = _Lru()

    def correlate(self, event: Event, now: float) -> Send | None:
        key = _identity(event)
        known = self._known.get(key)
        if known is None or now - known.last > SERIES_SECONDS:
            self._known.put(key, _Series(event, 1, now, now))
            return Send(event)
        known.count += 1
        known.last = now
        if known.count > 2 and now - known.sent < SERIES_REFRESH:
            return None
        known.sent = now
        series = {"count": known.count, "lastObservedTime": rfc3339_micro(now)}
        known.event["series"] = series
        return Send(known.event, {"series": series})


def _identity(event: Event) -> Hashable:
    about, related = event["involvedObject"], event.get("related") or {}
    return (
        event["type"],
        event["action"],
        event["reason"],
        event["reportingComponent"],
        event["reportingInstance"],
        *(about.get(name) for name in ("kind", "namespace", "name", "uid")),
        *(related.get(name) for name in ("kind", "namespace", "name", "uid")),
    )


def timestamps(now: float, *, series: bool) -> Event:
    """The times of a new event: those of the older school are whole seconds, of the newer one microseconds."""
    if series:
        return {"eventTime": rfc3339_micro(now)}
    return {"firstTimestamp": rfc3339(now), "lastTimestamp": rfc3339(now), "count": 1}
