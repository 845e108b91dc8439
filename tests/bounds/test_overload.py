"""More than can be done: what is refused, what is not, and who gets how much."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import orjson
from tests.bounds.rig import FULL, MIB, Connection, Server, at_once, healthy, percentile, report

BURST = 5_000 if FULL else 120
OBJECTS = 50_000 if FULL else 400
FAT, LISTERS = (300, 200) if FULL else (80, 30)
LEVEL = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/global-default"
CONFIGMAPS = "/api/v1/namespaces/full/configmaps"


async def greeted(server: Server, user: str) -> Connection:
    """A connection that has been used: one that says nothing is closed after half a minute."""
    connection = await server.connect(user)
    assert (await connection.call("GET", "/version"))[0] == 200
    return connection


async def test_a_burst_is_refused_in_part_fairly_and_others_are_served(server: Server) -> None:
    """Two users ask for the same at once, one with ten times as many requests: the other's are all served."""
    root = await greeted(server, "root")
    if not FULL:  # shorter queues make the same of fewer requests
        small = {"queuing": {"queues": 8, "handSize": 1, "queueLengthLimit": 20}}
        spec = {"limited": {"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": small}}
        status, _, answer = await root.call("PATCH", LEVEL, {"spec": spec}, kind="application/merge-patch+json")
        assert status == 200, answer
    before = server.memory
    few = min(BURST // 10, 200)  # less than one flow may have in its queues
    many = await at_once(BURST, lambda _: greeted(server, "ann"))
    some = await at_once(few, lambda _: greeted(server, "bob"))
    answers: dict[str, list[tuple[int, dict[str, str], bytes]]] = {"ann": [], "bob": []}

    async def create(connection: Connection, user: str, number: int) -> None:
        body = {"metadata": {"name": f"{user}-{number}"}, "data": {"x": "y" * 500}}
        answers[user].append(await connection.call("POST", CONFIGMAPS, body))

    started = time.perf_counter()
    async with healthy(server, "root") as times:
        work = [create(connection, "ann", number) for number, connection in enumerate(many)]
        work += [create(connection, "bob", number) for number, connection in enumerate(some)]
        await asyncio.gather(*work)
        seconds = time.perf_counter() - started
    grown = server.memory - before
    counts = {user: Counter(status for status, _, _ in found) for user, found in answers.items()}
    refused = [answer for found in answers.values() for answer in found if answer[0] == 429]
    report("a burst", number=BURST, seconds=round(seconds, 2), counts=counts, grown_mib=grown // MIB, p99=percentile(times, 0.99))
    for found in counts.values():
        assert set(found) <= {201, 429}
        assert found[201] > 0
    assert all(int(headers["retry-after"]) >= 1 for _, headers, _ in refused)
    assert all(text == b"Too many requests, please try again later.\n" for _, _, text in refused)
    assert counts["bob"][201] >= few * 0.9  # asking for less than one's share is served
    assert percentile(times, 0.99) < 1.0
    for connection in (*many, *some):
        connection.close()
    assert refused
    assert (await root.call("DELETE", CONFIGMAPS))[0] == 200
    assert (await root.call("DELETE", LEVEL))[0] == 200
    root.close()


async def test_thousands_of_objects_are_deleted_while_others_are_served(server: Server) -> None:
    connections = await at_once(16, lambda _: server.connect())
    numbers = iter(range(OBJECTS))

    async def fill(connection: Connection) -> None:
        for number in numbers:
            body = {"metadata": {"name": f"o-{number}"}, "data": {"x": "y" * 200}}
            status, _, answer = await connection.call("POST", CONFIGMAPS, body)
            assert status == 201, answer

    await asyncio.gather(*map(fill, connections))
    before, highest = server.memory, 0
    started = time.perf_counter()
    async with healthy(server) as times:
        left = OBJECTS
        while left:
            status, _, answer = await connections[0].call("DELETE", f"{CONFIGMAPS}?limit=500")
            assert status == 200, answer
            left -= len(orjson.loads(answer)["items"])
            highest = max(highest, server.memory)
        seconds = time.perf_counter() - started
    report(
        "objects deleted",
        number=OBJECTS,
        seconds=round(seconds, 1),
        grown_mib=(highest - before) // MIB,
        p99_s=percentile(times, 0.99),
    )
    for connection in connections:
        connection.close()
    assert percentile(times, 0.99) < 1.0


async def test_who_lists_everything_and_never_reads_costs_a_piece_of_it(server: Server) -> None:
    """A list is made while it is read: what waits to be sent is a part of it, whoever asks."""
    root = await server.connect()
    fat = {"x": "y" * 100_000}
    for number in range(FAT):
        assert (await root.call("POST", CONFIGMAPS, {"metadata": {"name": f"fat-{number}"}, "data": fat}))[0] == 201
    status, _, body = await root.call("GET", CONFIGMAPS)
    assert (status, len(orjson.loads(body)["items"])) == (200, FAT)
    before = server.memory
    async with healthy(server) as times:
        silent = await at_once(LISTERS, lambda _: server.connect())
        for connection in silent:
            await connection.send("GET", CONFIGMAPS)
            connection.writer.transport.pause_reading()
        await asyncio.sleep(1)
        grown = server.memory - before
    for connection in silent:
        connection.close()
    assert (await root.call("DELETE", CONFIGMAPS))[0] == 200
    root.close()
    report("lists that nobody reads", number=LISTERS, mib_each=len(body) / MIB, grown_mib=round(grown / MIB))
    assert grown < LISTERS * 3 * MIB + 32 * MIB
    assert percentile(times, 0.99) < 1.0
