"""KMS v2: one seed for many objects, a new one for a new key, and what happens while the key manager is away."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]  # has no types
from tests.storage.encryption.kms_server import Keys, served
from tests.storage.encryption.test_encryption import SECRET, on_disk, opened, saying

from setpoint.api.machinery.protobuf_wire import ProtobufError
from setpoint.kit import metrics
from setpoint.kit.clock import RealClock, VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.encryption import kms_messages as messages
from setpoint.storage.encryption.configuration import Rule
from setpoint.storage.encryption.envelope import WRITE_SECONDS, Envelope
from setpoint.storage.encryption.kms_messages import KEY, Wrapped
from setpoint.storage.encryption.kms_plugin import PluginError, SocketPlugin
from setpoint.storage.encryption.transformers import CannotOpen, Identity, NotReady
from setpoint.storage.encryption.values import StillNeeded, Unreadable, Values
from setpoint.storage.protocol import Unavailable


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
async def envelope(keys: Keys) -> Envelope:
    made = Envelope("k", keys)
    assert await made.check(VirtualClock())
    return made


def rules(*envelopes: Envelope | Identity) -> list[Rule]:
    return [Rule(("secrets",), envelopes)]


async def primed(keys: Keys, *more: Identity) -> Values:
    values = Values(rules(Envelope("k", keys), *more))
    await values.prime(RealClock(), 0)
    return values


# ---- envelopes


async def test_the_plugin_is_asked_once_for_many_objects(keys: Keys, envelope: Envelope) -> None:
    for number in range(50):
        place = f"secrets/d/{number}".encode()
        assert envelope.open(envelope.seal(SECRET, place), place) == SECRET
    assert keys.asked == ["status", "encrypt"]


async def test_what_is_stored_is_kubernetes_form(keys: Keys, envelope: Envelope) -> None:
    sealed = messages.sealed_of(envelope.seal(SECRET, b"secrets/d/a"))
    assert (sealed.wrapped.key_id, list(sealed.wrapped.annotations), sealed.kind) == ("one", ["nonce.example.com"], 1)
    seed = await keys.decrypt(sealed.wrapped, "uid")
    info, nonce, rest = sealed.data[:32], sealed.data[32:44], sealed.data[44:]
    key = hmac.digest(seed, info + b"\x01", hashlib.sha256)
    assert AESGCM(key).decrypt(nonce, rest, b"secrets/d/a") == SECRET


async def test_a_value_that_was_moved_or_damaged_is_not_opened(envelope: Envelope) -> None:
    sealed = envelope.seal(SECRET, b"secrets/d/a")
    with pytest.raises(CannotOpen, match="authentication failed"):
        envelope.open(sealed, b"secrets/d/b")
    for damaged in (b"", sealed[:-1], sealed[: len(sealed) // 2], b"\xff" * 30):
        with pytest.raises(CannotOpen):
            envelope.open(damaged, b"secrets/d/a")


async def test_objects_whose_key_is_no_seed_can_be_read(keys: Keys, envelope: Envelope) -> None:
    """As Kubernetes 1.28 and older wrote them."""
    key, nonce = os.urandom(32), os.urandom(12)
    data = nonce + AESGCM(key).encrypt(nonce, SECRET, b"place")
    stored = messages.seal(data, messages.tail_of(await keys.encrypt(key, "uid"), KEY))
    await envelope.fetch([envelope.prefix + stored], VirtualClock(), 0)
    assert envelope.open(stored, b"place") == SECRET


async def test_a_new_key_of_the_plugin_makes_a_new_seed_and_the_old_one_still_opens(keys: Keys, envelope: Envelope) -> None:
    before, mark = envelope.seal(SECRET, b"p"), envelope.mark
    keys.rotate("two")
    assert await envelope.check(VirtualClock())
    assert keys.asked == ["status", "encrypt"] * 2
    after = envelope.seal(SECRET, b"p")
    assert [messages.sealed_of(each).wrapped.key_id for each in (before, after)] == ["one", "two"]
    assert envelope.open(before, b"p") == envelope.open(after, b"p") == SECRET
    assert (envelope.mark_of(before), envelope.mark_of(after)) == (mark, envelope.mark)
    assert mark != envelope.mark


async def test_a_plugin_that_is_not_healthy_is_told_in_kubernetes_words(keys: Keys, envelope: Envelope) -> None:
    clock = VirtualClock()
    keys.healthz = "tired"
    assert not await envelope.check(clock)
    assert envelope.trouble == "kmsv2 Provider k is not healthy, error: got unexpected healthz status: tired"
    keys.healthz, keys.version = "ok", "v1"
    await envelope.check(clock)
    assert envelope.trouble.endswith("expected KMSv2 API version v2, got v1")
    keys.version, keys.current = "v2", ""
    await envelope.check(clock)
    assert envelope.trouble.endswith('got invalid KMSv2 KeyID hash "": keyID is empty')
    keys.away = "rpc error: code = Unavailable desc = gone"
    await envelope.check(clock)
    what = "failed to perform status section of the healthz check for KMS Provider k, error: "
    assert envelope.trouble == what + keys.away
    keys.away, keys.current = "", "one"
    assert await envelope.check(clock)
    assert envelope.trouble == ""


async def test_a_plugin_that_encrypts_with_another_key_than_it_tells_gives_no_seed(keys: Keys, envelope: Envelope) -> None:
    keys.rotate("two")
    keys.encrypts_with = "one"
    assert not await envelope.check(VirtualClock())
    assert "failed to rotate DEK" in envelope.trouble
    assert messages.sealed_of(envelope.seal(SECRET, b"p")).wrapped.key_id == "one"


async def test_without_a_healthy_plugin_writes_end_after_three_minutes_and_reads_do_not(keys: Keys) -> None:
    clock, envelope = VirtualClock(), Envelope("k", keys)
    with pytest.raises(NotReady):
        envelope.ready()
    assert await envelope.check(clock)
    sealed = envelope.seal(SECRET, b"p")
    keys.away = "gone"
    await clock.advance(WRITE_SECONDS - 1)
    await envelope.check(clock)
    envelope.ready()
    await clock.advance(2)
    with pytest.raises(NotReady, match=r'encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" expired at '):
        envelope.ready()
    assert envelope.open(sealed, b"p") == SECRET
    keys.away = ""
    assert await envelope.check(clock)
    envelope.ready()


# ---- stores


async def test_a_restart_asks_for_the_seeds_of_what_is_stored(tmp_path: Path, keys: Keys) -> None:
    store = await opened(tmp_path, await primed(keys))
    for name in "abc":
        await store.create(f"secrets/d/{name}", saying(SECRET))
    await store.create("configmaps/d/a", saying(b"open to all"))
    await store.close()
    assert SECRET not in on_disk(tmp_path)
    assert b"k8s:enc:kms:v2:k:" in on_disk(tmp_path)
    keys.asked.clear()
    store = await opened(tmp_path, await primed(keys))
    assert keys.asked == ["status", "encrypt", "decrypt"]
    assert SECRET in (await store.get("secrets/d/b")).value
    assert not store.outdated("secrets/d/b")
    await store.close()


async def test_a_key_that_the_plugin_lost_is_told_and_loses_nothing(tmp_path: Path, keys: Keys) -> None:
    store = await opened(tmp_path, await primed(keys))
    await store.create("secrets/d/a", saying(SECRET))
    await store.close()
    other = Keys()
    other.rotate("other")
    del other.keys["one"]
    values = await primed(other)
    why = r"secrets/d/a cannot be decrypted \(k8s:enc:kms:v2:k\): failed to decrypt DEK, error: .*no such key"
    with pytest.raises(Unreadable, match=why):
        await opened(tmp_path, values)
    store = await opened(tmp_path, await primed(keys))
    assert SECRET in (await store.get("secrets/d/a")).value
    await store.close()


async def test_after_a_rotation_objects_are_outdated_until_they_are_written_anew(tmp_path: Path, keys: Keys) -> None:
    values = await primed(keys, Identity())
    store = await opened(tmp_path, values)
    await store.create("secrets/d/a", saying(SECRET))
    assert not store.outdated("secrets/d/a")
    keys.rotate("two")
    await values.prime(RealClock(), 0)
    assert store.outdated("secrets/d/a")
    await store.update("secrets/d/a", saying(SECRET))
    assert not store.outdated("secrets/d/a")
    with pytest.raises(StillNeeded, match="1 secrets by k8s:enc:kms:v2:k"):
        values.use(rules(Identity()))
    await store.close()


async def test_while_the_plugin_is_away_for_long_only_what_it_seals_is_not_written(tmp_path: Path, keys: Keys) -> None:
    values = await primed(keys)
    store = await opened(tmp_path, values)
    await store.create("secrets/d/a", saying(SECRET))
    (envelope,) = values._envelopes
    assert envelope._state is not None
    envelope._state.until = 0
    with pytest.raises(Unavailable, match="expired at"):
        await store.create("secrets/d/b", saying(SECRET))
    with pytest.raises(Unavailable, match="expired at"):
        await store.update("secrets/d/a", saying(SECRET))
    await store.create("configmaps/d/a", saying(b"open to all"))
    await store.delete("secrets/d/a")
    assert store.trouble == ""
    await store.close()


async def test_a_changed_configuration_is_taken_when_its_plugin_answers(keys: Keys) -> None:
    values, clock = await primed(keys), RealClock()
    away = Keys()
    away.away = "gone"
    with pytest.raises(ValueError, match="gone"):
        await values.take(rules(Envelope("new", away)), clock, 0)
    assert values.seal("secrets/d/a", SECRET, b"p").startswith(b"k8s:enc:kms:v2:k:")
    values.forget("secrets/d/a")
    await values.take(rules(Envelope("new", Keys())), clock, 0)
    assert values.seal("secrets/d/a", SECRET, b"p").startswith(b"k8s:enc:kms:v2:new:")


async def test_plugins_are_looked_after(keys: Keys) -> None:
    values, clock = Values(rules(Envelope("k", keys))), VirtualClock()
    await values.prime(clock, 0)
    async with Tasks("test") as tasks:
        tasks.start("keep", values.keep(clock))
        keys.away = "gone"
        await clock.advance(21)
        assert values.trouble.endswith("error: gone")
        keys.away = ""
        await clock.advance(4)  # one that is not well is asked again soon
        assert values.trouble == ""
        keys.asked.clear()
        await clock.advance(100)
        assert keys.asked == ["status"] * 5
        tasks.stop()


# ---- the wire


@pytest.fixture
async def plugin(keys: Keys, tmp_path: Path) -> AsyncIterator[SocketPlugin]:
    async with served(keys, tmp_path / "kms.sock"):
        made = SocketPlugin(f"unix://{tmp_path}/kms.sock", 5)
        yield made
        await made.close()


async def test_over_a_socket(plugin: SocketPlugin, tmp_path: Path) -> None:
    envelope, clock = Envelope("k", plugin), RealClock()
    assert await envelope.check(clock), envelope.trouble
    sealed = envelope.seal(SECRET, b"p")
    other = Envelope("k", SocketPlugin(f"unix://{tmp_path}/kms.sock", 5))  # another server on the same store
    with pytest.raises(CannotOpen, match="was not asked"):
        other.open(sealed, b"p")
    await other.fetch([other.prefix + sealed], clock, 0)
    assert other.open(sealed, b"p") == SECRET
    await other.close()
    with pytest.raises(PluginError, match=r"rpc error: code = InvalidArgument desc = .*no such key"):
        await plugin.decrypt(Wrapped(b"x", "none"), "uid")
    told = metrics.exposition().decode()
    refused = 'method_name="/v2.KeyManagementService/Decrypt",grpc_status_code="InvalidArgument"'
    line = next(
        line for line in told.splitlines() if "kms_operations_latency_seconds_count" in line and "InvalidArgument" in line
    )
    assert all(part in line for part in refused.split(","))


async def test_a_plugin_that_comes_late_is_waited_for(keys: Keys, tmp_path: Path) -> None:
    values = Values(rules(Envelope("k", SocketPlugin(f"unix://{tmp_path}/kms.sock", 1))))
    with pytest.raises(ValueError, match="code = Unavailable"):
        await values.prime(RealClock(), 0)
    assert "kms" in values.trouble
    waiting = asyncio.create_task(values.prime(RealClock(), 10))
    async with served(keys, tmp_path / "kms.sock"):
        await waiting
        assert values.trouble == ""
        await values.close()


async def test_a_plugin_that_hangs_is_given_up(keys: Keys, plugin: SocketPlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(keys, "status", hang)
    plugin._timeout = 0.2
    with pytest.raises(PluginError, match="code = DeadlineExceeded"):
        await plugin.status()


def test_messages_are_what_protobuf_makes_of_them() -> None:
    """By Google's library, from Kubernetes' definition of EncryptedObject."""
    descriptor = descriptor_pb2.FileDescriptorProto(name="v2.proto", package="v2", syntax="proto3")
    message = descriptor.message_type.add(name="EncryptedObject")
    entry = message.nested_type.add(name="AnnotationsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=1)
    entry.field.add(name="value", number=2, type=12, label=1)
    message.field.add(name="encryptedData", number=1, type=12, label=1)
    message.field.add(name="keyID", number=2, type=9, label=1)
    message.field.add(name="encryptedDEKSource", number=3, type=12, label=1)
    message.field.add(name="annotations", number=4, type=11, label=3, type_name=".v2.EncryptedObject.AnnotationsEntry")
    message.field.add(name="encryptedDEKSourceType", number=5, type=5, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(descriptor)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("v2.EncryptedObject"))
    wrapped = Wrapped(b"sealed" * 100, "one", {"a.example.com": b"1", "b.example.com": b""})
    ours = messages.seal(b"data" * 1000, messages.tail_of(wrapped))
    theirs = kind.FromString(ours)
    assert (theirs.encryptedData, theirs.keyID, theirs.encryptedDEKSource) == (b"data" * 1000, "one", wrapped.ciphertext)
    assert (dict(theirs.annotations), theirs.encryptedDEKSourceType) == (dict(wrapped.annotations), 1)
    sealed = messages.sealed_of(theirs.SerializeToString(deterministic=True))
    assert (sealed.data, sealed.wrapped, sealed.kind) == (b"data" * 1000, wrapped, 1)


def test_fields_may_stand_in_any_order() -> None:
    wrapped = Wrapped(b"sealed", "one", {"a.example.com": b"1"})
    tail = messages.tail_of(wrapped)
    assert messages.split(tail + messages.seal(b"data", b"")) == messages.split(messages.seal(b"data", tail)) == (b"data", tail)


@pytest.mark.parametrize("message", [b"\x08", b"\x0a\xff", b"\x0b", b"\x0a\x05ab", b"\x80" * 12])
def test_what_is_no_message_is_refused(message: bytes) -> None:
    with pytest.raises(ProtobufError):
        messages.sealed_of(message)
