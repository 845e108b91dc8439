"""KMS v2: a key manager's plugin encrypts a seed, and every object gets a key of its own that is derived from it.

    k8s:enc:kms:v2:<provider>:<EncryptedObject: data, key id, encrypted seed, annotations>
    data: <32 random bytes><nonce, 12 bytes><ciphertext and tag>; the key is HKDF-Expand-SHA256(seed, the random bytes)

A process makes its seed when it starts and a new one when the plugin's key id changes, so the plugin is asked once for many
objects, not for each. Seeds stay in memory alone. While the plugin is not healthy reads go on, of all whose seed is known; writes
go on for three minutes.

    check   Status, then a new seed if the key id is new; a healthy answer lets writes go on for three minutes more
    fetch   the seeds of stored objects that this process does not know, before they are opened
    seal    with the current seed; never asks anybody
    open    with a known seed; never asks anybody

Sources: KEP-3299; apiserver `pkg/storage/value/encrypt/envelope/kmsv2/envelope.go`, `encrypt/aes/aes_extended_nonce.go`,
`pkg/server/options/encryptionconfig/config.go`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import uuid
from collections.abc import Iterable

from msgspec import Struct

from setpoint.api.machinery.names import dns_subdomain
from setpoint.api.machinery.protobuf_wire import ProtobufError
from setpoint.kit import logs
from setpoint.kit.clock import Clock, rfc3339
from setpoint.storage.encryption import kms_messages as messages
from setpoint.storage.encryption.kms_messages import SEED, Wrapped
from setpoint.storage.encryption.kms_plugin import Plugin, PluginError
from setpoint.storage.encryption.transformers import AESGCM, CannotOpen, NotReady

log = logs.get_logger("storage.kms")

WRITE_SECONDS = 180.0  # for which a seed may be used after the plugin was last healthy
_RETRY_SECONDS = 0.5
_INFO = 32  # bytes, of what a key is derived from besides the seed, and of the seed
_MAX_KEY_ID, _MAX_WRAPPED, _MAX_ANNOTATIONS = 1024, 1024, 32 * 1024


class _Key(Struct, frozen=True):
    """A seed (or a key, by `kind`), and what tells objects of its plugin's key from those of others."""

    secret: bytes
    kind: int
    mark: bytes


class _State(Struct):
    """The current key, and until when objects may be sealed with it (seconds of the clock's monotonic time, and of its time)."""

    key: _Key
    key_id: str
    tail: bytes
    until: float
    until_wall: float


class Envelope:
    """One `kms` provider: a transformer whose keys come from its plugin. `trouble` is why the plugin is not healthy."""

    def __init__(self, name: str, plugin: Plugin) -> None:
        self.name = name
        self.prefix = f"k8s:enc:kms:v2:{name}:".encode()
        self.trouble = f"kmsv2 Provider {name} was not asked yet"
        self._plugin = plugin
        self._clock: Clock | None = None
        self._state: _State | None = None
        #: keys, and why there is none, by what stands of them in objects
        self._keys: dict[bytes, _Key] = {}
        self._failed: dict[bytes, str] = {}

    async def close(self) -> None:
        await self._plugin.close()

    # ---- the plugin

    async def check(self, clock: Clock) -> bool:
        """Ask how the plugin is, and get a seed if there is none for its key; tell whether all is well."""
        self._clock = clock
        before = self.trouble
        try:
            await self._check(clock)
        except (PluginError, ProtobufError) as error:
            self.trouble = str(error)
        else:
            self.trouble = ""
        if self.trouble and self.trouble != before:
            log.warning("the key manager is not healthy", provider=self.name, why=self.trouble)
        return not self.trouble

    async def _check(self, clock: Clock) -> None:
        until, until_wall = clock.monotonic() + WRITE_SECONDS, clock.now() + WRITE_SECONDS  # before anything is waited for
        try:
            status = await self._plugin.status()
        except PluginError as error:
            what = f"failed to perform status section of the healthz check for KMS Provider {self.name}, error: {error}"
            raise PluginError(what) from error
        complaints = [f"got unexpected healthz status: {status.healthz}"] if status.healthz != "ok" else []
        if status.version not in ("v2", "v2beta1"):
            complaints.append(f"expected KMSv2 API version v2, got {status.version}")
        if why := _key_id_complaint(status.key_id):
            complaints.append(f'got invalid KMSv2 KeyID hash "{_hashed(status.key_id)}": {why}')
        else:
            try:
                await self._use(status.key_id, until, until_wall)
            except PluginError as error:
                complaints.append(str(error))
        if complaints:
            told = complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]"
            raise PluginError(f"kmsv2 Provider {self.name} is not healthy, error: {told}")

    async def _use(self, key_id: str, until: float, until_wall: float) -> None:
        """Go on with the seed, or take a new one where the plugin's key is another."""
        state = self._state
        if state is not None and state.key_id == key_id:
            state.until, state.until_wall = until, until_wall
            return
        seed, uid = os.urandom(_INFO), str(uuid.uuid4())
        wrapped, why = Wrapped(), "<nil>"
        try:
            wrapped = await self._plugin.encrypt(seed, uid)
            why = _wrapped_complaint(wrapped) or "<nil>"
        except PluginError as error:
            why = f"failed to encrypt DEK, error: {error}"
        if why != "<nil>" or wrapped.key_id != key_id:
            held = state.key_id if state is not None else ""
            raise PluginError(
                f'failed to rotate DEK uid="{uid}", useSeed=true, errGen={why}, statusKeyIDHash="{_hashed(key_id)}", '
                f'encryptKeyIDHash="{_hashed(wrapped.key_id)}", stateKeyIDHash="{_hashed(held)}"'
            )
        key, tail = _Key(seed, SEED, self.prefix + key_id.encode()), messages.tail_of(wrapped)
        self._state = _State(key, key_id, tail, until, until_wall)
        self._keys[tail] = key
        log.info("a new data key is used", provider=self.name, key_id=_hashed(key_id))

    async def fetch(self, values: Iterable[bytes], clock: Clock, patience: float) -> None:
        """Learn the seeds of stored values (with their prefix); one that the plugin does not give is told when it is needed.

        A plugin that does not answer is asked again for `patience` seconds.
        """
        deadline = clock.monotonic() + patience
        for value in values:
            try:
                _, tail = messages.split(value[len(self.prefix) :])
                if tail in self._keys:
                    continue
                sealed = messages.sealed_of(value[len(self.prefix) :])
            except ProtobufError:
                continue
            try:
                secret = await self._decrypt(sealed.wrapped, clock, deadline)
            except PluginError as error:
                self._failed[tail] = f"failed to decrypt DEK, error: {error}"
            else:
                self._keys[tail] = _Key(secret, sealed.kind, self.prefix + sealed.wrapped.key_id.encode())

    async def _decrypt(self, wrapped: Wrapped, clock: Clock, deadline: float) -> bytes:
        while True:
            try:
                return await self._plugin.decrypt(wrapped, str(uuid.uuid4()))
            except PluginError as error:
                if not error.passing or clock.monotonic() >= deadline:
                    raise
            await clock.sleep(_RETRY_SECONDS)

    # ---- values

    def ready(self) -> None:
        """Raises NotReady where nothing may be sealed any more."""
        state, clock = self._state, self._clock
        if state is None or clock is None:
            raise NotReady(self.trouble)
        if clock.monotonic() > state.until:
            raise NotReady(
                f'encryptedDEKSource with keyID hash "{_hashed(state.key_id)}" expired at '
                f"{rfc3339(state.until_wall)} (current time is {rfc3339(clock.now())})"
            )

    @property
    def mark(self) -> bytes:
        """Tells what is sealed now from what was sealed by another of the plugin's keys."""
        return self._state.key.mark if self._state is not None else self.prefix

    def mark_of(self, sealed: bytes) -> bytes:
        try:
            return self._keys[messages.split(sealed)[1]].mark
        except (ProtobufError, KeyError):
            return self.prefix

    def seal(self, value: bytes, place: bytes) -> bytes:
        state = self._state
        if state is None:
            raise NotReady(self.trouble)
        info = os.urandom(_INFO)
        return messages.seal(info + _derived(state.key.secret, info).seal(value, place), state.tail)

    def open(self, sealed: bytes, place: bytes) -> bytes:
        try:
            data, tail = messages.split(sealed)
        except ProtobufError as error:
            raise CannotOpen(str(error)) from error
        key = self._keys.get(tail)
        if key is None:
            raise CannotOpen(self._failed.get(tail) or "the plugin was not asked for its key")
        try:
            if key.kind != SEED:
                return AESGCM("", key.secret).open(data, place)
            if len(data) < _INFO:
                raise CannotOpen("the stored data was shorter than the required size")
            return _derived(key.secret, data[:_INFO]).open(data[_INFO:], place)
        except ValueError as error:
            raise CannotOpen("the plugin gave no key of the right size") from error


def _derived(seed: bytes, info: bytes) -> AESGCM:
    """The key of one object: one block of HKDF-Expand with SHA-256 (RFC 5869), which is as long as the key."""
    return AESGCM("", hmac.digest(seed, info + b"\x01", hashlib.sha256))


def _hashed(key_id: str) -> str:
    return f"sha256:{hashlib.sha256(key_id.encode()).hexdigest()}" if key_id else ""


def _key_id_complaint(key_id: str) -> str:
    if not key_id:
        return "keyID is empty"
    size = len(key_id.encode())
    return f"keyID is {size} bytes, which exceeds the max size of {_MAX_KEY_ID}" if size > _MAX_KEY_ID else ""


def _wrapped_complaint(wrapped: Wrapped) -> str:
    """What makes an encrypted seed unfit to be stored with every object."""
    size = len(wrapped.ciphertext)
    if not size:
        return "failed to validate encrypted DEK source: encrypted DEK source is empty"
    if size > _MAX_WRAPPED:
        why = f"encrypted DEK source is {size} bytes, which exceeds the max size of {_MAX_WRAPPED}"
        return f"failed to validate encrypted DEK source: {why}"
    if why := _key_id_complaint(wrapped.key_id):
        return f"failed to validate key id: {why}"
    total = sum(len(key.encode()) + len(value) for key, value in wrapped.annotations.items())
    if total > _MAX_ANNOTATIONS:
        why = f"total size of annotations is {total}, which exceeds the max size of {_MAX_ANNOTATIONS}"
        return f"failed to validate annotations: {why}"
    for key in wrapped.annotations:
        if "." not in key or dns_subdomain(key):
            why = "should be a domain with at least two segments separated by dots"
            return f'failed to validate annotations: annotations: Invalid value: "{key}": {why}'
    return ""
