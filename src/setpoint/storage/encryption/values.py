"""The store's values by their keys: what is sealed before it is written, and opened after it was read.

A changed configuration is taken while the server runs: from then on the new first key seals. What lies there already stays
as it is until it is written again, which even a write that changes nothing does (`outdated`), so

    kubectl get secrets -A -o json | kubectl replace -f -

brings everything to the new key. A configuration without a key that objects still need is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from setpoint.kit.clock import Clock
from setpoint.storage.encryption.configuration import Rule, chosen
from setpoint.storage.encryption.transformers import SEALED, CannotOpen, NotReady, name_in
from setpoint.storage.protocol import StoreError, Unavailable

if TYPE_CHECKING:
    from setpoint.storage.encryption.envelope import Envelope

_HEALTHY_SECONDS, _UNHEALTHY_SECONDS = 20.0, 3.0  # between two looks at a key manager
_PRIME_PAUSE = 0.5
_PLAIN = "it is not encrypted, and identity is not among the providers"


class Unreadable(StoreError):
    """A stored value that no configured key opens. Nothing was changed."""


class StillNeeded(ValueError):
    """A configuration lacks keys that stored objects are sealed with."""


class Values:
    """What a configuration means for each key; without rules, nothing is sealed."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = tuple(rules)
        self._of: dict[str, Rule | None] = {}
        self._envelopes = _envelopes(self._rules)
        self._clock: Clock | None = None
        #: of objects whose kind is sealed: which key sealed them (its mark)
        self._sealed_by: dict[str, bytes] = {}

    @property
    def on(self) -> bool:
        """Whether anything is sealed at all."""
        return bool(self._rules)

    def _rule(self, key: str) -> Rule | None:
        collection = key.partition("/")[0]
        try:
            return self._of[collection]
        except KeyError:
            rule = self._of[collection] = chosen(self._rules, collection)
            return rule

    def seal(self, key: str, value: bytes, place: bytes) -> bytes:
        """What is to be stored of an object."""
        rule = self._rule(key)
        if rule is None:
            return value
        first = rule.transformers[0]
        self._sealed_by[key] = first.mark
        return first.prefix + first.seal(value, place)

    def open(self, key: str, value: bytes, place: bytes) -> bytes:
        """An object of what is stored of it; raises Unreadable."""
        rule = self._rule(key)
        if rule is None:
            if value.startswith(SEALED):
                raise Unreadable(f"{key} is encrypted ({_shown(value)}) and its resource is not in the encryption configuration")
            return value
        name = name_in(value)
        why = "no provider of its resource has this key" if name else _PLAIN
        for transformer in rule.transformers:
            if transformer.prefix != name:
                continue
            sealed = value[len(name) :]
            try:
                opened = transformer.open(sealed, place)
            except CannotOpen as error:
                why = str(error)
                continue
            self._sealed_by[key] = transformer.mark_of(sealed)
            return opened
        raise Unreadable(f"{key} cannot be decrypted ({_shown(value)}): {why}; nothing was changed")

    # ---- key managers

    def ready(self, key: str) -> None:
        """Raises Unavailable where an object cannot be sealed now, since its key manager is away for too long."""
        if not self._envelopes:
            return
        rule = self._rule(key)
        if rule is not None:
            try:
                rule.transformers[0].ready()
            except NotReady as error:
                raise Unavailable(str(error)) from error

    async def prepare(self, values: Iterable[bytes], patience: float = 10.0) -> None:
        """See to it that stored values can be opened: ask key managers for keys of theirs that are not known here."""
        if not self._envelopes or self._clock is None:
            return
        wanted = [value for value in values if value.startswith(SEALED)]
        for envelope in self._envelopes:
            await envelope.fetch((value for value in wanted if value.startswith(envelope.prefix)), self._clock, patience)

    async def prime(self, clock: Clock, seconds: float) -> None:
        """Ask every key manager for a key; raises ValueError where one does not give it in time."""
        self._clock = clock
        deadline = clock.monotonic() + seconds
        for envelope in self._envelopes:
            while not await envelope.check(clock):
                if clock.monotonic() >= deadline:
                    raise ValueError(envelope.trouble)
                await clock.sleep(_PRIME_PAUSE)

    async def keep(self, clock: Clock) -> None:
        """Look after the key managers, for ever."""
        while True:
            well = [await envelope.check(clock) for envelope in self._envelopes]
            await clock.sleep(_HEALTHY_SECONDS if all(well) else _UNHEALTHY_SECONDS)

    async def take(self, rules: Sequence[Rule], clock: Clock, seconds: float) -> None:
        """Seal by other rules from now on, once their key managers have answered; raises ValueError, and changes nothing."""
        new = Values(rules)
        before = self._envelopes
        try:
            await new.prime(clock, seconds)
            self.use(rules)
        except ValueError:
            before = new._envelopes
            raise
        finally:
            for envelope in before:
                await envelope.close()

    @property
    def trouble(self) -> str:
        """What is wrong with a key manager; empty when all is well."""
        return next((envelope.trouble for envelope in self._envelopes if envelope.trouble), "")

    @property
    def asks(self) -> bool:
        """Whether there are key managers."""
        return bool(self._envelopes)

    async def close(self) -> None:
        for envelope in self._envelopes:
            await envelope.close()

    # ---- what is sealed by which key

    def forget(self, key: str) -> None:
        """The object is gone."""
        self._sealed_by.pop(key, None)

    def outdated(self, key: str) -> bool:
        """Whether an object is sealed otherwise than it would be now, so that even a write that changes nothing is worth it."""
        rule = self._rule(key) if self._rules else None
        return rule is not None and self._sealed_by.get(key, b"") != rule.transformers[0].mark

    def use(self, rules: Sequence[Rule]) -> None:
        """Seal by other rules from now on; raises StillNeeded, and changes nothing, if objects would become unreadable."""
        new = Values(rules)
        needed = Counter(
            (key.partition("/")[0], name_in(mark)) for key, mark in self._sealed_by.items() if not new._opens(key, name_in(mark))
        )
        if needed:
            which = ", ".join(f"{count} {resource} by {_shown(prefix)}" for (resource, prefix), count in sorted(needed.items()))
            raise StillNeeded(f"objects are still encrypted by keys that it lacks: {which}; write them anew first")
        self._rules, self._envelopes = new._rules, new._envelopes
        self._of = {}

    def _opens(self, key: str, prefix: bytes) -> bool:
        rule = self._rule(key)
        if rule is None:
            return not prefix
        return any(transformer.prefix == prefix for transformer in rule.transformers)


def _envelopes(rules: Iterable[Rule]) -> tuple[Envelope, ...]:
    """Those of key managers, looked for where there are rules at all: few servers have any."""
    if not rules:
        return ()
    from setpoint.storage.encryption.envelope import Envelope

    return tuple(each for rule in rules for each in rule.transformers if isinstance(each, Envelope))


def _shown(value: bytes) -> str:
    return name_in(value).decode(errors="replace").rstrip(":") or "plain"
