"""The store's values by their keys: what is sealed before it is written, and opened after it was read.

A changed configuration is taken while the server runs: from then on the new first key seals. What lies there already stays
as it is until it is written again, which even a write that changes nothing does (`outdated`), so

    kubectl get secrets -A -o json | kubectl replace -f -

brings everything to the new key. A configuration without a key that objects still need is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from setpoint.storage.encryption.configuration import Rule, chosen
from setpoint.storage.encryption.transformers import SEALED, CannotOpen, name_in
from setpoint.storage.protocol import StoreError

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
        #: of objects whose kind is sealed: which key sealed them (its prefix)
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
        self._sealed_by[key] = first.prefix
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
            try:
                opened = transformer.open(value[len(name) :], place)
            except CannotOpen as error:
                why = str(error)
                continue
            self._sealed_by[key] = name
            return opened
        raise Unreadable(f"{key} cannot be decrypted ({_shown(value)}): {why}; nothing was changed")

    def forget(self, key: str) -> None:
        """The object is gone."""
        self._sealed_by.pop(key, None)

    def outdated(self, key: str) -> bool:
        """Whether an object is sealed otherwise than it would be now, so that even a write that changes nothing is worth it."""
        rule = self._rule(key) if self._rules else None
        return rule is not None and self._sealed_by.get(key, b"") != rule.transformers[0].prefix

    def use(self, rules: Sequence[Rule]) -> None:
        """Seal by other rules from now on; raises StillNeeded, and changes nothing, if objects would become unreadable."""
        new = Values(rules)
        needed = Counter(
            (key.partition("/")[0], prefix) for key, prefix in self._sealed_by.items() if not new._opens(key, prefix)
        )
        if needed:
            which = ", ".join(f"{count} {resource} by {_shown(prefix)}" for (resource, prefix), count in sorted(needed.items()))
            raise StillNeeded(f"objects are still encrypted by keys that it lacks: {which}; write them anew first")
        self._rules = new._rules
        self._of = {}

    def _opens(self, key: str, prefix: bytes) -> bool:
        rule = self._rule(key)
        if rule is None:
            return not prefix
        return any(transformer.prefix == prefix for transformer in rule.transformers)


def _shown(value: bytes) -> str:
    return name_in(value).decode(errors="replace").rstrip(":") or "plain"
