from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, cast

import msgspec

from setpoint.api.machinery import status
from setpoint.api.machinery.resource import Resource
from setpoint.client.client import ClientProtocol, ListResult, WatchEvent
from setpoint.client.informer import Informer
from setpoint.client.transport import TransportError
from setpoint.kit.clock import VirtualClock

THINGS: Resource[dict[str, Any]] = Resource("", "v1", "things", "Thing", namespaced=True, type=dict)


def thing(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns", "resourceVersion": str(version)}}


def event(kind: str, name: str, version: int) -> WatchEvent[dict[str, Any]]:
    return WatchEvent(kind, thing(name, version))


class ScriptedClient:
    """`lists` are answers (or errors) in order; each of `watches` is what one watch brings: batches, an error, or HOLD."""

    HOLD: Any = object()

    def __init__(self, lists: Sequence[Any], watches: Sequence[Sequence[Any]]) -> None:
        self.lists = list(lists)
        self.watches = list(watches)
        self.calls: list[tuple[str, str]] = []

    async def list(self, _resource: Any, _namespace: str = "", **options: Any) -> ListResult[Any]:
        self.calls.append(("list", options.get("continue_token", "")))
        answer = self.lists.pop(0)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, ListResult)
        return answer

    async def watch(
        self, _resource: Any, _namespace: str = "", *, resource_version: str, **_options: Any
    ) -> AsyncGenerator[Sequence[WatchEvent[Any]], None]:
        self.calls.append(("watch", resource_version))
        for step in self.watches.pop(0) if self.watches else [self.HOLD]:
            if step is self.HOLD:
                await asyncio.Event().wait()
            elif isinstance(step, Exception):
                raise step
            else:
                yield cast("Sequence[WatchEvent[Any]]", step)


HOLD = ScriptedClient.HOLD


class Following:
    """An informer under way, with its changes noted as `TYPE name version`."""

    def __init__(self, lists: Sequence[Any], watches: Sequence[Sequence[Any]]) -> None:
        self.clock = VirtualClock()
        self.client = ScriptedClient(lists, watches)
        self.informer: Informer[dict[str, Any]] = Informer(cast("ClientProtocol", self.client), THINGS, self.clock)
        self.changes: list[str] = []
        self.informer.on_change(self._note)

    def _note(self, kind: str, old: Any, new: Any) -> None:
        meta = (new or old)["metadata"]
        self.changes.append(f"{kind} {meta['name']} {meta['resourceVersion']}")


@contextlib.asynccontextmanager
async def following(lists: Sequence[Any], watches: Sequence[Sequence[Any]]) -> AsyncIterator[Following]:
    one = Following(lists, watches)
    task = asyncio.ensure_future(one.informer.run())
    await one.clock.idle()
    yield one
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_pages_then_a_watch_from_the_lists_revision() -> None:
    lists = [ListResult([thing("a", 1)], "7", "more"), ListResult([thing("b", 2)], "7")]
    async with following(lists, [[[event("MODIFIED", "a", 8), event("DELETED", "b", 9)], HOLD]]) as one:
        assert one.client.calls == [("list", ""), ("list", "more"), ("watch", "7")]
        assert one.changes == ["ADDED a 1", "ADDED b 2", "MODIFIED a 8", "DELETED b 9"]
        assert one.informer.has_synced
        assert one.informer.resource_version == "9"
        assert one.informer.activity().settled


async def test_an_ended_watch_resumes_at_the_last_revision_bookmarks_included() -> None:
    watches = [[[event("ADDED", "a", 8)], [event("BOOKMARK", "", 20)]], [HOLD]]
    async with following([ListResult([], "7")], watches) as one:
        assert one.client.calls == [("list", ""), ("watch", "7"), ("watch", "20")]
        assert one.changes == ["ADDED a 8"]


async def test_a_broken_watch_resumes_after_a_pause() -> None:
    async with following([ListResult([], "7")], [[[event("ADDED", "a", 8)], TransportError("gone")], [HOLD]]) as one:
        assert not one.informer.activity().settled
        await one.clock.advance(2)
        assert one.client.calls == [("list", ""), ("watch", "7"), ("watch", "8")]
        assert one.informer.activity().settled


async def test_expired_history_is_listed_again_and_differences_are_told() -> None:
    lists = [ListResult([thing("a", 1), thing("b", 2), thing("c", 3)], "7"), ListResult([thing("a", 1), thing("b", 30)], "40")]
    async with following(lists, [[status.expired("too old resource version: 7 (30)")], [HOLD]]) as one:
        assert one.client.calls[-2:] == [("list", ""), ("watch", "40")]
        assert one.changes[3:] == ["MODIFIED b 30", "DELETED c 3"]


async def test_pages_that_expire_are_read_at_once() -> None:
    lists = [ListResult([thing("a", 1)], "7", "more"), status.expired("token"), ListResult([thing("b", 2)], "9")]
    async with following(lists, [[HOLD]]) as one:
        assert one.changes == ["ADDED b 2"]


async def test_a_server_that_is_away_is_asked_ever_less_often() -> None:
    async with following([TransportError("refused")] * 8 + [ListResult([], "1")], []) as one:
        await one.clock.advance(5)
        assert len(one.client.calls) <= 4
        assert not one.informer.has_synced
        await one.clock.advance(300)
        assert one.informer.has_synced


async def test_a_new_outage_begins_with_short_pauses() -> None:
    gone = TransportError("gone")
    watches = [[gone]] * 6 + [[[event("ADDED", "a", 8)], gone], [HOLD]]
    async with following([ListResult([], "7")], watches) as one:
        while len(one.client.calls) < 8:  # six attempts that fail, ever longer after one another, then one that brings something
            assert await one.clock.step()
        before = one.clock.elapsed
        await one.clock.advance(2)
        assert one.client.calls[-1] == ("watch", "8")
        assert before > 0.8 * (2**5 - 1)


async def test_a_server_that_ends_watches_at_once_is_not_asked_in_a_tight_loop() -> None:
    async with following([ListResult([], "1")], [[]] * 50) as one:
        await one.clock.advance(10)
        assert len(one.client.calls) < 10


async def test_an_answer_that_cannot_be_read_is_made_up_for_by_a_list() -> None:
    lists = [ListResult([], "7"), ListResult([thing("a", 8)], "9")]
    async with following(lists, [[msgspec.ValidationError("broken")], [HOLD]]) as one:
        await one.clock.advance(2)
        assert one.changes == ["ADDED a 8"]
        assert one.client.calls[-1] == ("watch", "9")


async def test_a_late_handler_gets_what_is_there() -> None:
    async with following([ListResult([thing("a", 1)], "7")], [[HOLD]]) as one:
        seen: list[str] = []
        one.informer.on_change(lambda kind, _old, new: seen.append(f"{kind} {(new or {})['metadata']['name']}"))
        assert seen == ["ADDED a"]


async def test_a_failing_handler_stops_nobody() -> None:
    one = Following([ListResult([thing("a", 1)], "7")], [[HOLD]])

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    one.informer._handlers.insert(0, broken)
    task = asyncio.ensure_future(one.informer.run())
    await one.clock.idle()
    assert one.changes == ["ADDED a 1"]
    task.cancel()


async def test_a_resource_that_the_server_has_not_is_empty_until_it_has() -> None:
    absent = status.StatusError(404, "NotFound", "the server could not find the requested resource", {})
    async with following([absent, ListResult([thing("a", 1)], "7")], [[HOLD]]) as one:
        assert one.informer.has_synced
        assert one.informer.activity().settled
        assert one.changes == []
        await one.clock.advance(31)
        assert one.changes == ["ADDED a 1"]
