"""One resource's objects: what is common to all kinds about creating, changing, deleting and reading them.

Every verb is a function of its own module; this class holds what they share. Errors are StatusError.
Source: apiserver `registry/generic/registry/store.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import status
from setpoint.api.machinery.schema.canonical import NOTHING
from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.generic_store.objects import Canonical, Codec
from setpoint.kit.clock import Clock, rfc3339
from setpoint.registry.admission.request import Admission, AdmissionRequest
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Context, Object, Strategy
from setpoint.storage import protocol
from setpoint.storage.protocol import Record, Store

_SPECS = 256
_ATTEMPTS = 50  # of a write that others come before
_OTHER_SERVERS = ("apiextensions.k8s.io", "apiregistration.k8s.io")
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Outcome(Struct):
    """What a write came to: the record as it is now (of a dry run, or of a deleted object: as it would be or was)."""

    record: Record
    created: bool = False
    deleted: bool = False


def _is_plain(strategy: Strategy) -> bool:
    """Whether a strategy changes nothing by itself."""
    hooks = ("default", "prepare_for_create", "prepare_for_update", "canonicalise")
    return all(getattr(type(strategy), hook) is getattr(Strategy, hook) for hook in hooks)


class NoAdmission:
    """Lets everything pass; for tests of the store alone."""

    def concerned(self, operation: str, group_resource: str, subresource: str) -> bool:
        return False

    def changes(self, operation: str, group_resource: str, subresource: str) -> bool:
        return False

    async def admit(self, request: AdmissionRequest) -> None: ...
    async def validate(self, request: AdmissionRequest) -> None: ...


class GenericStore:
    """What handlers write to and read from."""

    def __init__(
        self, resource: ServedResource, store: Store, clock: Clock, admission: Admission, canonical: Canonical | None = None
    ) -> None:
        self.resource = resource
        self.strategy = resource.strategy
        self._plain = _is_plain(resource.strategy)
        custom = resource.custom
        self.codec: Codec = Codec(resource, canonical) if custom is None else custom.codec(resource, canonical)
        self.store: Store = store if custom is None or custom.store is None else custom.store(store, self.codec)
        self.clock = clock
        self.admission = admission
        self.given_canonical = canonical
        self._error_group = resource.stored_api_version.rpartition("/")[0] if resource.stored_api_version else resource.group
        #: whether finalizers must be known words or qualified names, which the apiservers of other scope do not ask for
        self.checks_finalizer_words = not resource.custom and resource.group not in _OTHER_SERVERS
        #: what the specs of new objects that are in stored form as they come stand for
        self._in_stored_form: set[bytes] = set()
        self._second = 0
        self._stamp = ""

    def key(self, namespace: str, name: str) -> str:
        return self.resource.key(namespace, name)

    def stamp(self) -> str:
        """The present time as metadata has it; made once a second."""
        second = int(self.clock.now())
        if second != self._second:
            self._second, self._stamp = second, rfc3339(second)
        return self._stamp

    def request(self, context: Context, operation: str, obj: Object | None, old: Object | None) -> AdmissionRequest:
        """What admission is asked about a write."""
        return AdmissionRequest(
            operation=operation,
            resource=self.resource,
            version=self.resource.storage_version,
            context=context,
            namespace=context.namespace,
            name=context.name,
            subresource=context.subresource,
            obj=obj,
            old=old,
            options=context.options,
            request_version=context.version or self.resource.storage_version,
        )

    def finish(self, obj: Object, strategy: Strategy, old: Mapping[str, Any] = NOTHING) -> None:
        """Bring an object that passed validation into its stored form. What no hook has touched is in it already, and so is
        what it shares with `old`.
        """
        strategy.canonicalise(obj)
        if strategy is self.strategy and self._plain:
            return
        text = b"" if old else strategy.stands_for(obj)
        if not text:
            self.canonical(obj, old)
        elif text in self._in_stored_form:
            self.canonical(obj, {"spec": obj["spec"]})
        else:
            self.canonical(obj)
            if strategy.stands_for(obj) == text:
                self._remember(text)

    def _remember(self, text: bytes) -> None:
        if len(self._in_stored_form) >= _SPECS:
            self._in_stored_form.clear()
        self._in_stored_form.add(text)

    def canonical(self, obj: Object, settled: Mapping[str, Any] = NOTHING) -> Object:
        """A stored object as its Go struct writes it; changed in place, but for what it shares with `settled`."""
        return self.given_canonical(obj, self.codec.stored_version, settled) if self.given_canonical is not None else obj

    # --- errors ---

    def not_found(self, name: str) -> StatusError:
        return status.not_found(self.resource.group, self.resource.plural, name)

    def exists(self, name: str) -> StatusError:
        return status.already_exists(self.resource.group, self.resource.plural, name)

    def conflict(self, name: str, why: str = MODIFIED) -> StatusError:
        return status.conflict(self.resource.group, self.resource.plural, name, why)

    def invalid(self, name: str, errors: Any) -> StatusError:
        return status.invalid_object(self._error_group, self.resource.kind, name, errors)

    async def head(self, namespace: str, name: str) -> Record:
        """The object as the next write will find it; raises 404."""
        key = self.key(namespace, name)
        record = await self.store.head(key)
        while record is None:
            if await self.store.still(key, 0):
                raise self.not_found(name)
            record = await self.store.head(key)
        return record

    async def rests(self, key: str, current: Record | None) -> bool:
        """Whether an answer may rest on `current`, which `head` has shown: it still is the head, and durable now.

        Where it is not, the answer is to be worked out again. Raises Unavailable if it could not become durable.
        """
        return await self.store.still(key, current.revision if current is not None else 0)

    async def on_head(self, namespace: str, name: str, attempt: Callable[[Record | None], Awaitable[Outcome]]) -> Outcome:
        """What `attempt(head)` comes to, tried anew where another write came between; a head that stays may be an answer, too.

        Raises what `attempt` raises, and 409 when there is no end of other writes.
        """
        key = self.key(namespace, name)
        for _ in range(_ATTEMPTS):
            current = await self.store.head(key)
            try:
                outcome = await attempt(current)
            except (protocol.Conflict, protocol.NotFound):
                continue
            except StatusError:
                if await self.rests(key, current):
                    raise
                continue
            if outcome.record is not current or await self.rests(key, current):
                return outcome
        raise self.conflict(name)

    async def get(self, namespace: str, name: str) -> Record:
        """The newest durable object; raises 404."""
        try:
            return await self.store.get(self.key(namespace, name))
        except protocol.NotFound:
            raise self.not_found(name) from None


def unavailable(error: Exception) -> StatusError:
    """A store that cannot commit now; one that will not, in its own words; one that does not say whether it did."""
    if isinstance(error, protocol.Rejected):
        return StatusError(500, "", str(error))
    if isinstance(error, protocol.Uncertain):
        return StatusError(504, "Timeout", f"Timeout: request did not complete within requested timeout - {error}")
    return StatusError(503, "ServiceUnavailable", f"the store is unavailable: {error}", {"retryAfterSeconds": 1})
