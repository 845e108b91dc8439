"""Watches: a stream of events from a version on.

`watch_lines` says what an event is for a watcher with selectors; lines are encoded once per event and form and shared by all
watchers (`Event.lines`); what is ready together goes out in one write.
Source: apiserver `storage/cacher/cache_watcher.go`, `endpoints/handlers/watch.go`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence

from setpoint.api.machinery.status import StatusError, bad_request, expired
from setpoint.apiserver import answers, versions
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import read
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.options import ListOptions, list_options
from setpoint.apiserver.request import Response
from setpoint.apiserver.selecting import Scope, scope_of
from setpoint.apiserver.watch_lines import Lines
from setpoint.kit.clock import Timer
from setpoint.storage.protocol import Compacted, Event, Future, Lagged, Only, Record, Unavailable, Watch

#: seconds between bookmarks, and before the end when the last one comes
_BOOKMARK_PERIOD = 60.0
_LAST_BOOKMARK = 2.0
#: seconds after which a watch ends that asked for no time: this, to twice this
_MIN_TIMEOUT = 1800.0


async def handle(call: Call) -> Response:
    info, request = call.info, call.request
    call.form = accepted(request, ("Table", "PartialObjectMetadata"), stream=True, collection=True)
    options = list_options(request.query, watch=True)
    scope = scope_of(call, options)
    if info.old_watch and info.name:
        scope = _of_one(call, options, scope)
    wanted = versions.parse(options.resource_version)
    if call.form.kind == "Table":
        from setpoint.apiserver import tables

        tables.content_of(call)  # refuses a word that says nothing before the stream begins
    headers = {"Content-Type": "application/json"} if not call.form.kind else answers.headers(call.form)
    try:
        stream = await _open(call, options, scope, wanted)
    except Compacted as error:
        message = f"too old resource version: {wanted} ({error.oldest})"
        stream = _failure(call, expired(message))
    except StatusError as error:  # a version from the future, where the state at the start was asked for
        stream = _failure(call, error)
    return Response(200, headers, stream=stream, warnings=call.warnings)


class _Opened:
    """A stream whose watch ends with it, even if nobody ever read from it."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], watch: Watch | None) -> None:
        self._pieces = pieces
        self._watch = watch

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    def __anext__(self) -> Awaitable[bytes]:
        return self._pieces.__anext__()

    async def aclose(self) -> None:
        await self._pieces.aclose()
        if self._watch is not None:
            await self._watch.__aexit__(None, None, None)


def _of_one(call: Call, options: ListOptions, scope: Scope) -> Scope:
    """The scope of the old `/watch/…/<name>` path."""
    asked = options.fields.exact("metadata.name")
    if asked is not None and asked != call.info.name:
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    name, matches = call.info.name, scope.matches
    if matches is None:
        return Scope(scope.prefix, "", lambda selection: selection.fields["metadata.name"] == name, selective=True)
    return Scope(
        scope.prefix, "", lambda selection: selection.fields["metadata.name"] == name and matches(selection), selective=True
    )


async def _failure(call: Call, error: StatusError) -> AsyncIterator[bytes]:
    """A watch that cannot be: 200 and one ERROR event."""
    yield Lines(call).error(error)


async def _open(call: Call, options: ListOptions, scope: Scope, wanted: int) -> AsyncIterator[bytes]:
    """Start watching before the answer begins, so that nothing is missed. Raises Compacted."""
    store, lines = call.store.store, Lines(call)
    state = options.initial_events if options.initial_events is not None else wanted == 0
    initial: Sequence[Record] = ()
    since = call.resource.custom.since if call.resource.custom else 0
    if not state and 0 < wanted < since:  # Kubernetes' watch cache of a custom kind begins with its definition
        raise Compacted(since)
    if state:
        if wanted:
            await versions.catch_up(store, wanted)
        found = await read.find(store, call.store.codec, scope.prefix, revision=0, start="", limit=0, matches=scope.matches)
        initial, after = found.records, found.revision
    else:
        after = wanted or store.revision
    if after > store.revision:
        return _Opened(_run(call, options, scope, lines, (), None, after), None)
    watch = await store.watch(scope.prefix, after=after, only=_only(call, options))
    return _Opened(_run(call, options, scope, lines, initial, watch, after), watch)


def _only(call: Call, options: ListOptions) -> Only | None:
    """What spares a watch the events of other nodes' pods: the first field that has to have one value.

    Not for custom kinds: their selectable fields change while watches run.
    """
    if options.fields.everything or call.resource.custom:
        return None
    for field in (*call.resource.strategy.selectable_fields, "metadata.name"):
        value = options.fields.exact(field)
        if value is not None:
            return Only(call.store.codec.field(field), value)
    return None


async def _run(
    call: Call,
    options: ListOptions,
    scope: Scope,
    lines: Lines,
    initial: Sequence[Record],
    watch: Watch | None,
    after: int,
) -> AsyncGenerator[bytes, None]:
    timeout = options.timeout or _MIN_TIMEOUT * (1.0 + random.random())  # noqa: S311 - spreads re-lists, no secret
    pace = _Pace(call, timeout, bookmarks=options.bookmarks)
    watches: set[_Pace] = call.resource.custom.watches if call.resource.custom else set()
    watches.add(pace)
    try:
        if watch is None:
            watch = await _reach(call, pace, scope, after)
            if watch is None:
                return
        async with watch:
            for first in range(0, len(initial), read.SLICE):
                yield lines.added(initial[first : first + read.SLICE])
            initial = ()  # a watch lasts for long, the state at its start need not
            if options.initial_events and options.bookmarks:
                yield lines.bookmark(after, initial_end=True)
            over = False
            while not over:
                over = pace.over()  # then what is ready is the last: where there is ever more, the watch would never end
                events = watch.ready() or await pace.next(watch)
                if events is None:
                    break
                chunk = lines.events(events, scope.matches)
                if not events and options.bookmarks and pace.bookmark_due():
                    chunk = lines.bookmark(watch.progress)
                if chunk:
                    yield chunk
    except (Lagged, Unavailable):
        return  # the client lists again
    except StatusError as error:  # what was to be shown cannot be converted
        yield lines.error(error)
    finally:
        watches.discard(pace)
        pace.stop()


async def _reach(call: Call, pace: _Pace, scope: Scope, after: int) -> Watch | None:
    """Watch from a version that has not happened yet, once it has; None when the time is over before."""
    store = call.store.store
    while not pace.over():
        if await store.wait_for(after, min(1.0, pace.left())):
            try:
                return await store.watch(scope.prefix, after=after)
            except Future:
                continue
    return None


class _Pace:
    """When a watch sends bookmarks and when it ends. One timer at a time, whatever the number of events."""

    def __init__(self, call: Call, timeout: float, *, bookmarks: bool) -> None:
        self._clock = call.clock
        self._end = self._clock.monotonic() + timeout
        self._bookmarks = bookmarks
        self._bookmark = self._next_bookmark()
        self._timer: Timer | None = None
        self._waits: asyncio.Task[object] | None = None
        self._interrupted = False

    def left(self) -> float:
        return self._end - self._clock.monotonic()

    def end(self) -> None:
        """End the watch once it has sent what is ready: what it watches is no longer served as it was."""
        self._end = self._clock.monotonic()
        self.stop()
        self._interrupt()

    def over(self) -> bool:
        return self._clock.monotonic() >= self._end

    def _next_bookmark(self) -> float:
        now = self._clock.monotonic()
        last = self._end - _LAST_BOOKMARK
        due = now + _BOOKMARK_PERIOD
        return last if now < last < due else due

    def bookmark_due(self) -> bool:
        """Whether a bookmark is to be sent now; the next one is then reckoned."""
        if self._clock.monotonic() < self._bookmark:
            return False
        self._bookmark = self._next_bookmark()
        return True

    async def next(self, watch: Watch) -> Sequence[Event] | None:
        """The next events; none when a bookmark is due; None when the watch is over."""
        if self._timer is None:  # else it is not due yet
            due = min(self._end, self._bookmark) if self._bookmarks else self._end
            left = due - self._clock.monotonic()
            if left <= 0:
                return None if self.over() else ()
            self._timer = self._clock.call_later(left, self._ring)
        self._waits, self._interrupted = asyncio.current_task(), False
        try:
            return await watch.next()
        except asyncio.CancelledError:
            if not self._interrupted or self._waits is None or self._waits.uncancel() > 0:  # somebody else's wish
                raise
            return None if self.over() else ()
        finally:
            self._waits = None

    def _ring(self) -> None:
        self._timer = None
        self._interrupt()

    def _interrupt(self) -> None:
        """End the wait for events, as a timeout would, which costs a watch more than the events themselves."""
        if self._waits is not None and not self._interrupted:
            self._interrupted = True
            self._waits.cancel()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
