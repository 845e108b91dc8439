"""Asks the nodes what they use when somebody wants to know, and keeps the answers of the last minute: CPU is the difference of
two counters.

Cancelling any wait leaves the answers that were there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.kit import logs
from setpoint.kit.clock import Clock, parse_rfc3339
from setpoint.kit.tasks import Tasks
from setpoint.storage.protocol import Store

log = logs.get_logger("apiserver.resource_metrics")

_FRESH = 2.0  # seconds for which an answer is as good as a new one
_WINDOW = 10.0  # seconds over which CPU is averaged, at least, once nodes have been asked for so long
_STALE = 60.0  # seconds after which an answer tells nothing about now
_FIRST = 1.0  # seconds between the first two looks
_AT_ONCE = 32  # nodes

Place = tuple[str, str]
Fetch = Callable[[Mapping[str, Any]], Awaitable[bytes]]


class Counters(Struct, frozen=True):
    """Nanoseconds of CPU since `started` (seconds since the epoch); bytes of memory now."""

    cpu: int
    memory: int
    started: float = 0.0


class Scrape(Struct, frozen=True):
    """One node's answer; `taken` is in seconds since the epoch. Pods by namespace and name, then by container."""

    taken: float
    node: Counters
    pods: Mapping[Place, Mapping[str, Counters]]


class Used(Struct, frozen=True):
    """Nanocores and bytes, averaged until `taken` over `seconds`."""

    cpu: int
    memory: int
    taken: float
    seconds: float


class Scraper:
    """`fetch` gets a node's summary. `node` and `pod` answer from what is known; `ready` waits until that is of now."""

    def __init__(self, store: Store, fetch: Fetch, clock: Clock) -> None:
        self._store = store
        self._fetch = fetch
        self._clock = clock
        self._scrapes: dict[str, list[Scrape]] = {}
        self._lock = asyncio.Lock()
        self._looked_at = float("-inf")

    async def ready(self) -> None:
        """Return when the answers are of now; the first time that takes a second."""
        async with self._lock:
            since = self._clock.monotonic() - self._looked_at
            if since <= _FRESH:
                return
            await self._look()
            if since > _STALE:
                await self._clock.sleep(_FIRST)
                await self._look()

    def node(self, name: str) -> Used | None:
        """What a node used last."""
        scrapes = self._scrapes.get(name) or ()
        if len(scrapes) < 2:
            return None
        before, after = _base(scrapes), scrapes[-1]
        return _rate(before.node, before.taken, after.node, after.taken)

    def pod(self, node: str, namespace: str, name: str) -> Mapping[str, Used]:
        """What the containers of a pod used last; empty where nothing is known."""
        scrapes = self._scrapes.get(node) or ()
        if not scrapes:
            return {}
        before, after = _base(scrapes), scrapes[-1]
        known = before.pods.get((namespace, name)) or {}
        found: dict[str, Used] = {}
        for container, counters in (after.pods.get((namespace, name)) or {}).items():
            base, since = known.get(container), before.taken
            if base is None or base.started != counters.started or before is after:  # it began in between
                base, since = Counters(0, 0), min(counters.started, after.taken - _FIRST)
            found[container] = _rate(base, since, counters, after.taken)
        return found

    async def _look(self) -> None:
        """Ask all nodes; those that do not answer are forgotten."""
        page = await self._store.list("nodes/")
        nodes = [orjson.loads(record.value) for record in page.records]
        slots = asyncio.Semaphore(_AT_ONCE)
        found: dict[str, list[Scrape]] = {}

        async def ask(node: Mapping[str, Any]) -> None:
            name = node["metadata"]["name"]
            async with slots:
                try:
                    scrape = read(await self._fetch(node), self._clock.now())
                except (StatusError, OSError, TimeoutError, ValueError, KeyError) as error:
                    log.debug("a node's usage is not known", node=name, error=str(error))
                    return
            recent = [each for each in self._scrapes.get(name, ()) if scrape.taken - each.taken <= _STALE]
            found[name] = [*recent, scrape]

        async with Tasks("resource metrics") as tasks:
            for node in nodes:
                tasks.start(node["metadata"]["name"], ask(node))
        self._scrapes, self._looked_at = found, self._clock.monotonic()


def _base(scrapes: Sequence[Scrape]) -> Scrape:
    """The one to count from: the newest that gives a whole window, else the oldest."""
    end = scrapes[-1].taken - _WINDOW
    return next((each for each in reversed(scrapes) if each.taken <= end), scrapes[0])


def read(body: bytes, now: float) -> Scrape:
    """A node's summary. Raises ValueError or KeyError for what is none."""
    summary = orjson.loads(body)
    pods = {
        (pod["podRef"]["namespace"], pod["podRef"]["name"]): {
            container["name"]: _counters(container) for container in pod.get("containers") or ()
        }
        for pod in summary.get("pods") or ()
    }
    return Scrape(now, _counters(summary["node"]), pods)


def _counters(entry: Mapping[str, Any]) -> Counters:
    started = parse_rfc3339(entry["startTime"]) if entry.get("startTime") else 0.0
    return Counters(entry["cpu"]["usageCoreNanoSeconds"], entry["memory"]["workingSetBytes"], started)


def _rate(before: Counters, since: float, after: Counters, taken: float) -> Used:
    seconds = max(taken - since, 0.001)
    return Used(max(0, int((after.cpu - before.cpu) / seconds)), after.memory, taken, seconds)
