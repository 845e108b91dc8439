"""What lies on the disk is sealed, what is read is plain; keys change, and a wrong one loses nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.sqlite import sqlite_store
from setpoint.storage.backends.sqlite_files import FILE
from setpoint.storage.backends.sqlite_snapshot import restore, save
from setpoint.storage.encryption.configuration import Rule
from setpoint.storage.encryption.transformers import AESCBC, AESGCM, CannotOpen, Identity, Secretbox, Transformer, name_in
from setpoint.storage.encryption.values import StillNeeded, Unreadable, Values
from setpoint.storage.local import LocalStore
from setpoint.storage.protocol import Encode, Encoded

OLD, NEW = AESGCM("old", os.urandom(32)), AESGCM("new", os.urandom(16))
SECRET = b"correct horse battery staple"


def rules(*transformers: Transformer, resource: str = "secrets") -> Sequence[Rule]:
    return [Rule((resource,), transformers)]


def saying(text: bytes) -> Encode:
    return lambda revision: Encoded(b'{"kind":"Secret","data":"%b","resourceVersion":"%d"}' % (text, revision))


async def opened(directory: Path, values: Values | None) -> LocalStore:
    store = sqlite_store(directory, RealClock(), values=values)
    await store.open()
    return store


def on_disk(directory: Path) -> bytes:
    return b"".join(file.read_bytes() for file in directory.iterdir() if file.name.startswith(FILE))


@pytest.mark.parametrize("make", [AESGCM, AESCBC, Secretbox])
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 5000])
def test_what_is_sealed_can_be_opened(make: type[AESGCM | AESCBC | Secretbox], size: int) -> None:
    key, value = make("k", os.urandom(32)), os.urandom(size)
    sealed = key.seal(value, b"here")
    assert sealed != key.seal(value, b"here")
    assert key.open(sealed, b"here") == value
    for damaged in (b"", sealed[:-1]):
        with pytest.raises(CannotOpen):
            key.open(damaged, b"here")


def test_a_value_that_was_moved_is_not_opened() -> None:
    sealed = OLD.seal(SECRET, b"secrets/d/a")
    with pytest.raises(CannotOpen, match="authentication failed"):
        OLD.open(sealed, b"secrets/d/b")


def test_secretbox_is_what_others_know_by_that_name() -> None:
    """The test vector of NaCl's documentation: a nonce of 24 bytes, the tag, the ciphertext."""
    box = Secretbox("k", bytes.fromhex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"))
    nonce = bytes.fromhex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37")
    sealed = bytes.fromhex(
        "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f0"
        "11ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01"
        "b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5"
    )
    plain = bytes.fromhex(
        "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66c"
        "ce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc7689"
        "7040e082f937763848645e0705"
    )
    assert box.prefix == b"k8s:enc:secretbox:v1:k:"
    assert box.open(nonce + sealed, b"") == plain
    with pytest.raises(CannotOpen, match="authentication failed"):
        box.open(nonce + sealed[:-1] + b"x", b"")


def test_the_key_is_named() -> None:
    assert name_in(OLD.prefix + b"a:b:c") == b"k8s:enc:aesgcm:v1:old:"
    assert name_in(b'{"kind":"Secret"}') == b""


async def test_the_disk_holds_no_secret_and_reads_do(tmp_path: Path) -> None:
    store = await opened(tmp_path, Values(rules(OLD)))
    await store.create("secrets/d/a", saying(SECRET))
    await store.create("configmaps/d/a", saying(b"open to all"))
    await store.update("secrets/d/a", saying(SECRET + b"!"))
    assert SECRET in (await store.get("secrets/d/a")).value
    assert SECRET not in on_disk(tmp_path)
    assert b"k8s:enc:aesgcm:v1:old:" in on_disk(tmp_path)
    assert b"open to all" in on_disk(tmp_path)
    snapshot = tmp_path.parent / "snapshot"
    save(tmp_path, snapshot)
    await store.close()
    assert SECRET not in on_disk(tmp_path)
    assert SECRET not in snapshot.read_bytes()
    restore(snapshot, tmp_path / "again")
    store = await opened(tmp_path / "again", Values(rules(OLD)))
    assert SECRET + b"!" in (await store.get("secrets/d/a")).value
    await store.close()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (None, "its resource is not in the encryption configuration"),
        (Values(rules(NEW)), "no provider of its resource has this key"),
        (Values(rules(AESGCM("old", os.urandom(32)))), "authentication failed"),
        (Values(rules(Identity())), "no provider of its resource has this key"),
    ],
)
async def test_a_wrong_key_is_told_and_loses_nothing(tmp_path: Path, values: Values | None, why: str) -> None:
    store = await opened(tmp_path, Values(rules(OLD)))
    await store.create("secrets/d/a", saying(SECRET))
    await store.close()
    with pytest.raises(Unreadable, match=why) as raised:
        await opened(tmp_path, values)
    assert "secrets/d/a" in str(raised.value)
    assert "aesgcm:v1:old" in str(raised.value)
    store = await opened(tmp_path, Values(rules(OLD)))
    assert SECRET in (await store.get("secrets/d/a")).value
    await store.close()


async def test_plain_objects_need_identity_until_they_are_written_anew(tmp_path: Path) -> None:
    store = await opened(tmp_path, None)
    await store.create("secrets/d/a", saying(SECRET))
    await store.close()
    with pytest.raises(Unreadable, match="identity is not among the providers"):
        await opened(tmp_path, Values(rules(OLD)))
    store = await opened(tmp_path, Values(rules(OLD, Identity())))
    assert store.outdated("secrets/d/a")
    record = await store.update("secrets/d/a", saying(SECRET))
    assert not store.outdated("secrets/d/a")
    await store.compact(record.revision)
    await store.close()
    assert SECRET not in on_disk(tmp_path)
    await (await opened(tmp_path, Values(rules(OLD)))).close()


async def test_keys_are_rotated_while_the_server_runs(tmp_path: Path) -> None:
    values = Values(rules(OLD))
    store = await opened(tmp_path, values)
    await store.create("secrets/d/a", saying(SECRET))
    first = await store.create("secrets/d/b", saying(SECRET))
    with pytest.raises(StillNeeded, match="2 secrets by k8s:enc:aesgcm:v1:old"):
        values.use(rules(NEW))
    values.use(rules(NEW, OLD))
    assert store.outdated("secrets/d/a")
    for name in "ab":
        await store.update(f"secrets/d/{name}", saying(SECRET))
    values.use(rules(NEW))
    await store.close()
    store = await opened(tmp_path, Values(rules(NEW)))  # old states cannot be opened: history begins later
    assert {record.key for record in (await store.list("secrets/")).records} == {"secrets/d/a", "secrets/d/b"}
    assert not store.outdated("secrets/d/a")
    assert store.revision > first.revision
    await store.close()
    assert OLD.prefix not in on_disk(tmp_path)


async def test_deleted_objects_need_no_key(tmp_path: Path) -> None:
    values = Values(rules(OLD))
    store = await opened(tmp_path, values)
    await store.create("secrets/d/a", saying(SECRET))
    await store.delete("secrets/d/a")
    values.use(rules(NEW))
    await store.close()
    store = await opened(tmp_path, Values(rules(NEW)))
    assert await store.count("secrets/") == 0
    await store.close()


def test_kinds_that_are_not_sealed_keep_their_very_bytes() -> None:
    values, value = Values(rules(OLD)), b"{}"
    assert values.seal("pods/d/a", value, b"") is value
    assert values.open("pods/d/a", value, b"") is value
