"""Many watches: those that are idle cost little, those that never read cost no more than a bound."""

from __future__ import annotations

import asyncio
import time

from tests.bounds.rig import FULL, MIB, Server, at_once, healthy, percentile, report

IDLE = 10_000 if FULL else 100
SILENT = 1_000 if FULL else 20
EVENTS = 2_000 if FULL else 100
IDLE_BYTES = 96 * 1024  # per idle watch over TLS, its connection included
SILENT_BYTES = 448 * 1024  # per watcher that never reads: TLS, one piece, what the socket holds
CONFIGMAPS = "/api/v1/namespaces/full/configmaps"


async def test_idle_watches_cost_little_and_all_are_told(server: Server) -> None:
    before = server.memory
    watches = await at_once(IDLE, lambda _: server.watch("/api/v1/namespaces/full/podtemplates"))
    each = (server.memory - before) / IDLE
    async with healthy(server) as times:
        root = await server.connect()
        started = time.perf_counter()
        template = {"metadata": {"generateName": "t-"}, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
        assert (await root.call("POST", "/api/v1/namespaces/full/podtemplates", template))[0] == 201
        chunks = await asyncio.gather(*(watch.chunk() for watch in watches))
        told = time.perf_counter() - started
    assert all(b'"ADDED"' in chunk for chunk in chunks)
    for watch in watches:
        watch.close()
    root.close()
    report("idle watches", number=IDLE, kib_each=round(each / 1024, 1), all_told_s=round(told, 2), p99_s=percentile(times, 0.99))
    assert each < IDLE_BYTES
    assert percentile(times, 0.99) < 1.0


async def test_watchers_that_never_read_are_bounded_and_hold_nobody_up(server: Server) -> None:
    before = server.memory
    silent = await at_once(SILENT, lambda _: server.watch(CONFIGMAPS))
    for watch in silent:
        watch.writer.transport.pause_reading()
    reader = await server.watch(CONFIGMAPS)
    root = await server.connect()
    seen = 0

    async def read() -> None:
        nonlocal seen
        while seen < EVENTS:
            seen += (await reader.chunk()).count(b'"type":"ADDED"')

    async with healthy(server) as times:
        reading = asyncio.ensure_future(read())
        highest = before
        for number in range(EVENTS):
            body = {"metadata": {"name": f"fat-{number}"}, "data": {"x": "y" * 20_000}}
            assert (await root.call("POST", CONFIGMAPS, body))[0] == 201
            if number % 20 == 0:
                highest = max(highest, server.memory)
        async with asyncio.timeout(30):
            await reading
        highest = max(highest, server.memory)
    assert (await root.call("DELETE", CONFIGMAPS))[0] == 200
    for connection in (*silent, reader, root):
        connection.close()
    grown = highest - before
    report("watchers that never read", number=SILENT, grown_mib=round(grown / MIB), p99_s=percentile(times, 0.99))
    kept = EVENTS * 20_500 * 4  # the objects, the history, what is encoded of them, garbage
    assert grown < SILENT * SILENT_BYTES + kept + 64 * MIB
    assert percentile(times, 0.99) < 1.0
