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
from setpoint.kit import logs
from setpoint.kit.clock import Clock, rfc3339
from setpoint.storage.encryption import kms_messages as messages
from setpoint.storage.encryption.kms_messages import SEED, Malformed, Sealed, Wrapped
from setpoint.storage.encryption.kms_plugin import Plugin, PluginError
from setpoint.storage.encryption.transformers import AESGCM, CannotOpen, NotReady

log = logs.get_logger("storage.kms")

WRITE_SECONDS = 180.0  # for which a seed may be used after the plugin was last healthy
_RETRY_SECONDS = 0.5
_INFO = 32  # bytes, of what a key is derived from besides the seed, and of the seed
_MAX_KEY_ID, _MAX_WRAPPED, _MAX_ANNOTATIONS = 1024, 1024, 32 * 1024


class _State(Struct):
    """The current seed, and until when objects may be sealed with it (seconds of the clock's monotonic time, and of its time)."""

    seed: bytes
    wrapped: Wrapped
    mark: bytes
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
        #: by what they are encrypted to, as it stands in objects
        self._seeds: dict[tuple[bytes, str, tuple[tuple[str, bytes], ...]], bytes] = {}
        self._failed: dict[bytes, str] = {}
        self._marks: dict[str, bytes] = {}

    async def close(self) -> None:
        await self._plugin.close()

    # ---- the plugin

    async def check(self, clock: Clock) -> bool:
        """Ask how the plugin is, and get a seed if there is none for its key; tell whether all is well."""
        self._clock = clock
        before = self.trouble
        try:
            await self._check(clock)
        except (PluginError, Malformed) as error:
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
        if state is not None and state.wrapped.key_id == key_id:
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
            held = state.wrapped.key_id if state is not None else ""
            raise PluginError(
                f'failed to rotate DEK uid="{uid}", useSeed=true, errGen={why}, statusKeyIDHash="{_hashed(key_id)}", '
                f'encryptKeyIDHash="{_hashed(wrapped.key_id)}", stateKeyIDHash="{_hashed(held)}"'
            )
        self._state = _State(seed, wrapped, self._mark(key_id), until, until_wall)
        self._seeds[_place(wrapped)] = seed
        log.info("a new data key is used", provider=self.name, key_id=_hashed(key_id))

    async def fetch(self, values: Iterable[bytes], clock: Clock, patience: float) -> None:
        """Learn the seeds of stored values (with their prefix); one that the plugin does not give is told when it is needed.

        A plugin that does not answer is asked again for `patience` seconds.
        """
        deadline = clock.monotonic() + patience
        for value in values:
            try:
                wrapped = messages.sealed_of(value[len(self.prefix) :]).wrapped
            except Malformed:
                continue
            while _place(wrapped) not in self._seeds:
                try:
                    self._seeds[_place(wrapped)] = await self._plugin.decrypt(wrapped, str(uuid.uuid4()))
                except PluginError as error:
                    if error.passing and clock.monotonic() < deadline:
                        await clock.sleep(_RETRY_SECONDS)
                        continue
                    self._failed[wrapped.ciphertext] = f"failed to decrypt DEK, error: {error}"
                    break

    # ---- values

    def ready(self) -> None:
        """Raises NotReady where nothing may be sealed any more."""
        state, clock = self._state, self._clock
        if state is None or clock is None:
            raise NotReady(self.trouble)
        if clock.monotonic() > state.until:
            raise NotReady(
                f'encryptedDEKSource with keyID hash "{_hashed(state.wrapped.key_id)}" expired at '
                f"{rfc3339(state.until_wall)} (current time is {rfc3339(clock.now())})"
            )

    @property
    def mark(self) -> bytes:
        """Tells what is sealed now from what was sealed by another of the plugin's keys."""
        return self._state.mark if self._state is not None else self.prefix

    def mark_of(self, sealed: bytes) -> bytes:
        try:
            return self._mark(messages.sealed_of(sealed).wrapped.key_id)
        except Malformed:
            return self.prefix

    def _mark(self, key_id: str) -> bytes:
        mark = self._marks.get(key_id)
        if mark is None:
            mark = self._marks[key_id] = self.prefix + key_id.encode()
        return mark

    def seal(self, value: bytes, place: bytes) -> bytes:
        state = self._state
        if state is None:
            raise NotReady(self.trouble)
        info = os.urandom(_INFO)
        data = info + _derived(state.seed, info).seal(value, place)
        return messages.seal(Sealed(data, state.wrapped))

    def open(self, sealed: bytes, place: bytes) -> bytes:
        try:
            held = messages.sealed_of(sealed)
        except Malformed as error:
            raise CannotOpen(str(error)) from error
        seed = self._seeds.get(_place(held.wrapped))
        if seed is None:
            raise CannotOpen(self._failed.get(held.wrapped.ciphertext) or "the plugin was not asked for its key")
        try:
            if held.kind != SEED:
                return AESGCM("", seed).open(held.data, place)
            if len(held.data) < _INFO:
                raise CannotOpen("the stored data was shorter than the required size")
            return _derived(seed, held.data[:_INFO]).open(held.data[_INFO:], place)
        except ValueError as error:
            raise CannotOpen("the plugin gave no key of the right size") from error


def _derived(seed: bytes, info: bytes) -> AESGCM:
    """The key of one object: one block of HKDF-Expand with SHA-256 (RFC 5869), which is as long as the key."""
    return AESGCM("", hmac.digest(seed, info + b"\x01", hashlib.sha256))


def _place(wrapped: Wrapped) -> tuple[bytes, str, tuple[tuple[str, bytes], ...]]:
    return wrapped.ciphertext, wrapped.key_id, tuple(sorted(wrapped.annotations.items()))


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
