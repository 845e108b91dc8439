"""What lies in etcd is sealed; several servers share it, and a key that one does not have is told."""

from __future__ import annotations

import asyncio
import os

import pytest
from tests.storage.encryption.kms_server import Keys

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.etcd.connection import Connection
from setpoint.storage.backends.etcd.store import etcd_store
from setpoint.storage.encryption.configuration import Rule
from setpoint.storage.encryption.envelope import Envelope
from setpoint.storage.encryption.transformers import AESGCM, Identity
from setpoint.storage.encryption.values import Values
from setpoint.storage.protocol import Conflict, Encode, Encoded
from setpoint.testing.etcd import Etcd

SECRET = b"correct horse battery staple"
KEY, OTHER = AESGCM("k", os.urandom(32)), AESGCM("other", os.urandom(32))


def saying(text: bytes) -> Encode:
    return lambda revision: Encoded(b'{"kind":"Secret","data":"%b","resourceVersion":"%d"}' % (text, revision))


def values(*keys: AESGCM | Identity) -> Values:
    return Values([Rule(("secrets",), keys)])


async def raw(one: Etcd, root: str, key: str) -> bytes:
    """A value as it lies in etcd."""
    from aetcd.rpc import rpc_pb2 as pb

    connection = Connection(one.members(root), RealClock())
    connection.open()
    try:
        found = await connection.range(pb.RangeRequest(key=f"{root}/{key}".encode()))
    finally:
        await connection.close()
    value: bytes = found.kvs[0].value
    return value


async def test_servers_that_share_the_key_share_secrets(one: Etcd, root: str) -> None:
    here = etcd_store(one.members(root), RealClock(), values=values(KEY))
    there = etcd_store(one.members(root), RealClock(), values=values(KEY, Identity()))
    await here.open()
    await there.open()
    made = await here.create("secrets/d/a", saying(SECRET))
    await here.create("configmaps/d/a", saying(b"open to all"))
    sealed = await raw(one, root, "secrets/d/a")
    assert sealed.startswith(b"k8s:enc:aesgcm:v1:k:")
    assert SECRET not in sealed
    assert b"open to all" in await raw(one, root, "configmaps/d/a")
    found = await there.get("secrets/d/a")
    assert found.value == made.value
    assert b'"resourceVersion":"%d"' % made.revision in found.value
    changed = await there.update("secrets/d/a", saying(b"other " + SECRET), expect=made.revision)
    with pytest.raises(Conflict) as conflict:
        await here.update("secrets/d/a", saying(b"late"), expect=made.revision)
    assert conflict.value.current.value == changed.value
    assert not here.outdated("secrets/d/a")
    gone = await here.delete("secrets/d/a")
    assert gone.previous is not None
    assert SECRET in gone.previous.value
    await here.close()
    await there.close()


async def test_plain_secrets_are_sealed_when_they_are_written_again(one: Etcd, root: str) -> None:
    before = etcd_store(one.members(root), RealClock())
    await before.open()
    await before.create("secrets/d/a", saying(SECRET))
    await before.close()
    after = etcd_store(one.members(root), RealClock(), values=values(KEY, Identity()))
    await after.open()
    assert after.outdated("secrets/d/a")
    await after.update("secrets/d/a", saying(SECRET))
    assert not after.outdated("secrets/d/a")
    assert SECRET not in await raw(one, root, "secrets/d/a")
    await after.close()


async def test_servers_that_share_a_key_manager_read_each_others_secrets(one: Etcd, root: str) -> None:
    """Each has a seed of its own, and learns the other's when it needs it: by the watch, by a conflict, by what is removed."""
    keys, clock = Keys(), RealClock()
    stores = []
    for _ in range(2):
        sealed = Values([Rule(("secrets",), (Envelope("k", keys),))])
        await sealed.prime(clock, 0)
        stores.append(etcd_store(one.members(root), clock, values=sealed))
    first, second = stores
    await first.open()
    await second.open()
    made = await first.create("secrets/d/a", saying(SECRET))
    assert (await raw(one, root, "secrets/d/a")).startswith(b"k8s:enc:kms:v2:k:")
    assert await second.wait_for(made.revision, 5)
    assert SECRET in (await second.get("secrets/d/a")).value
    changed = await second.update("secrets/d/a", saying(b"other " + SECRET), expect=made.revision)
    with pytest.raises(Conflict) as conflict:
        await first.update("secrets/d/a", saying(b"late"), expect=made.revision)
    assert conflict.value.current.revision == changed.revision
    assert b"other " + SECRET in conflict.value.current.value
    keys.away = "gone"
    with pytest.raises(ValueError, match="gone"):
        await Values([Rule(("secrets",), (Envelope("k", keys),))]).prime(clock, 0)
    gone = await first.delete("secrets/d/a")
    assert gone.previous is not None
    assert SECRET in gone.previous.value
    await asyncio.gather(first.close(), second.close())
