"""Several servers on one etcd, what etcd refuses, and what it forgets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from setpoint.apiserver.pki import CLIENT, SERVER, Authority, Subject
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.etcd.compacting import Compactor
from setpoint.storage.backends.etcd.connection import Refusal
from setpoint.storage.backends.etcd.members import Members
from setpoint.storage.backends.etcd.store import EtcdStore, etcd_store
from setpoint.storage.cache import Cache
from setpoint.storage.protocol import Conflict, Encoded, Exists, NotFound, Rejected, StoreError, Unavailable
from setpoint.testing import etcd as real
from setpoint.testing.etcd import Etcd
from setpoint.testing.storage import body, until


@pytest.fixture
async def stores(one: Etcd, root: str) -> AsyncIterator[tuple[Cache, Cache]]:
    pair = etcd_store(one.members(root), RealClock()), etcd_store(one.members(root), RealClock())
    for store in pair:
        await store.open()
    yield pair
    for store in pair:
        await store.close()


def upstream(store: Cache) -> EtcdStore:
    assert isinstance(store._upstream, EtcdStore)
    return store._upstream


async def test_what_one_server_acknowledged_another_shows(stores: tuple[Cache, Cache]) -> None:
    here, there = stores
    for n in range(20):
        made = await here.create(f"pods/d/{n}", body("a"))
        assert (await there.get(f"pods/d/{n}")).revision == made.revision
        changed = await there.update(f"pods/d/{n}", body("b"), expect=made.revision)
        assert (await here.list(f"pods/d/{n}")).records[0].revision == changed.revision
        await here.delete(f"pods/d/{n}")
        with pytest.raises(NotFound):
            await there.get(f"pods/d/{n}")
        assert await there.still(f"pods/d/{n}", 0)


async def test_a_head_that_is_behind_makes_no_harm(stores: tuple[Cache, Cache]) -> None:
    here, there = stores
    made = await here.create("pods/d/a", body("a"))
    assert await there.still("pods/d/a", made.revision)
    changed = await there.update("pods/d/a", body("b"), expect=made.revision)
    assert not await here.still("pods/d/a", made.revision)
    with pytest.raises(Conflict) as conflict:
        await here.update("pods/d/a", body("c"), expect=made.revision)
    assert conflict.value.current.revision == changed.revision
    head = await here.head("pods/d/a")
    assert head is not None
    assert head.revision == changed.revision


async def test_of_many_servers_one_gets_an_address(stores: tuple[Cache, Cache]) -> None:
    outcomes = await asyncio.gather(
        *(store.create("ipaddresses.networking.k8s.io/10.96.0.9", body(str(n))) for n in range(10) for store in stores),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Exists) for outcome in outcomes) == 19


async def test_increments_of_two_servers_are_not_lost(stores: tuple[Cache, Cache]) -> None:
    await stores[0].create("configmaps/d/n", lambda _: Encoded(b"0"))

    async def increment(store: Cache) -> None:
        while True:
            head = await store.head("configmaps/d/n") or await store.get("configmaps/d/n")
            value = b"%d" % (int(head.value) + 1)
            try:
                await store.update("configmaps/d/n", lambda _, value=value: Encoded(value), expect=head.revision)  # type: ignore[misc]  # this round's
                return
            except Conflict:
                continue

    await asyncio.gather(*(increment(store) for store in stores for _ in range(8)))
    assert (await stores[1].get("configmaps/d/n")).value == b"16"


async def test_writes_of_others_to_the_same_etcd_hold_nothing_up(stores: tuple[Cache, Cache]) -> None:
    from aetcd.rpc import rpc_pb2 as pb

    here, _ = stores
    await here.create("pods/d/a", body("a"))
    for _ in range(3):
        await upstream(here)._connection.read(lambda member: (member.kv.Put, pb.PutRequest(key=b"/elsewhere", value=b"x")))
        began = time.monotonic()
        assert (await here.get("pods/d/a")).selection == "a"
        assert time.monotonic() - began < 1.5


async def test_a_value_that_is_too_large_is_refused_in_etcds_words(stores: tuple[Cache, Cache]) -> None:
    with pytest.raises(Rejected, match=r"^etcdserver: request is too large$"):
        await stores[0].create("configmaps/d/big", lambda _: Encoded(b"x" * 1_600_000))
    with pytest.raises(Rejected, match=r"^rpc error: code = ResourceExhausted desc = trying to send message larger than max"):
        await stores[0].create("configmaps/d/big", lambda _: Encoded(b"x" * 2_200_000))
    await stores[0].create("configmaps/d/fits", lambda _: Encoded(b"x" * 1_500_000))


async def test_history_is_compacted_by_one_of_many(stores: tuple[Cache, Cache]) -> None:
    from aetcd.rpc import rpc_pb2 as pb

    here, there = stores
    compactors = [Compactor(upstream(store)._connection, RealClock()) for store in stores]
    for compactor in compactors:  # they learn where the counter is
        await compactor.round()
    first = await here.create("pods/d/a", body("a"))
    await here.update("pods/d/a", body("b"))
    assert (await there.get("pods/d/a", revision=first.revision)).value == first.value, "what it has not seen it could not keep"
    for _ in range(2):
        for compactor in compactors:
            await compactor.round()
    request = pb.RangeRequest(key=upstream(here)._layout.place("pods/d/a"), revision=first.revision)
    with pytest.raises(Refusal, match="has been compacted"):
        await upstream(here)._connection.range(request)
    assert (await there.get("pods/d/a", revision=first.revision)).value == first.value, "the cache keeps its own history"


async def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setpoint.storage.backends.etcd.store._OPEN_SECONDS", 0.3)
    store = etcd_store(Members((f"127.0.0.1:{real.free_ports(1)[0]}",)), RealClock())
    with pytest.raises(StoreError, match=r"^etcd at 127\.0\.0\.1:\d+ does not answer: ") as error:
        await store.open()
    assert "\n" not in str(error.value)


async def test_what_troubles_etcd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    monkeypatch.setattr("setpoint.storage.backends.etcd.store._HEALTH_SECONDS", 0.1)
    with real.running(tmp_path / "etcd") as etcd:
        store = etcd_store(etcd.members("/registry"), RealClock())
        await store.open()
        assert store.trouble == ""
        etcd.kill(0)
        await until(lambda: "does not answer" in store.trouble, expected=True, seconds=5)
        etcd.begin(0)
        await until(lambda: store.trouble, "", 10)
        await store.close()


async def test_tls_and_client_certificates(tmp_path: Path) -> None:
    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    authority = Authority(tmp_path / "pki")
    serving = authority.issue("etcd", Subject("etcd", (), ("localhost", "127.0.0.1"), (SERVER, CLIENT)))
    client = authority.issue("client", Subject("setpoint"))
    ca = authority.certificate_file
    own = ("--cert-file", str(serving.certificate), "--key-file", str(serving.key))
    arguments = (*own, "--client-cert-auth", "--trusted-ca-file", str(ca))
    with real.running(tmp_path / "etcd", 1, arguments, "https") as etcd:
        members = Members(etcd.addresses, ca, client.certificate, client.key)
        store = etcd_store(members, RealClock())
        await store.open()
        made = await store.create("pods/d/a", body("a"))
        assert (await store.get("pods/d/a")).revision == made.revision
        await store.close()
        nobody = EtcdStore(Members(etcd.addresses, ca), RealClock())
        with pytest.raises(Unavailable):
            await _ask(nobody)


async def _ask(store: EtcdStore) -> None:
    store._connection.open()
    try:
        await store._connection.range(store._nothing(), patience=0.5)
    finally:
        await store._connection.close()


async def test_what_another_api_server_wrote_is_refused_clearly(one: Etcd, root: str) -> None:
    from aetcd.rpc import rpc_pb2 as pb

    store = EtcdStore(one.members(root), RealClock())
    await store.open()
    put = pb.PutRequest(key=f"{root}/pods/d/a".encode(), value=b"k8s\0\n")
    await store._connection.read(lambda member: (member.kv.Put, put))
    with pytest.raises(Unavailable, match="is protobuf, written by another API server"):
        await store.list()
    await store.close()
