"""What one subject may do in one scope, by verb, group and resource: a question costs a few look-ups, however many the rules.

Rules may name `*` for verb, group and resource, and `*/scale` for a subresource of all kinds. A table knows which of these shapes
its rules have, and looks only for those; most tables have one. Source: `pkg/apis/rbac/v1/evaluation_helpers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple, Self

from msgspec import Struct, field

_EXACT, _ALL, _SUBRESOURCE = range(3)
_MOST = 20_000  # entries of one table: a small rule may come to millions, and is kept as it is written then
_Shape = tuple[bool, bool, int]


class Grant(NamedTuple):
    """A binding that allows: `order` says which of several is named, `reason` is how."""

    order: tuple[str, int]
    reason: str


class _Entry(Struct):
    """Who allows a verb on a resource: on all objects, or on those of these names."""

    every: Grant | None = None
    names: dict[str, Grant] = field(default_factory=dict)


class _Wide(Struct, frozen=True):
    """A rule that is kept as it is written."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    urls: tuple[str, ...]
    grant: Grant

    @classmethod
    def of(cls, rule: Mapping[str, Any], grant: Grant) -> Self:
        verbs, groups, resources, names = (
            frozenset(rule.get(field) or ()) for field in ("verbs", "apiGroups", "resources", "resourceNames")
        )
        return cls(verbs, groups, resources, names, tuple(rule.get("nonResourceURLs") or ()), grant)

    def resource(self, verb: str, group: str, resources: Iterable[str], name: str) -> bool:
        return (
            not self.verbs.isdisjoint((verb, "*"))
            and not self.groups.isdisjoint((group, "*"))
            and not self.resources.isdisjoint(resources)
            and (not self.names or (bool(name) and name in self.names))
        )

    def path(self, verb: str, path: str) -> bool:
        return not self.verbs.isdisjoint((verb, "*")) and any(
            url == path or (url.endswith("*") and path.startswith(url.rstrip("*"))) for url in self.urls
        )


class Table:
    """Fill it with `extend`, in the order in which bindings count; the first grant of a right is the one that is told."""

    def __init__(self) -> None:
        self.missing: list[tuple[str, str]] = []  # (binding, why its role gives nothing)
        self.tells_names_apart = False  # some rule is about objects of some names alone
        self._entries: dict[tuple[str, str, str], _Entry] = {}
        self._shapes: dict[_Shape, None] = {}
        self._paths: dict[tuple[str, str], Grant] = {}
        self._prefixes: dict[tuple[str, str], Grant] = {}
        self._lengths: tuple[int, ...] = ()
        self._wide: list[_Wide] = []
        self._size = 0

    def extend(self, rules: Iterable[Mapping[str, Any]], grant: Grant) -> None:
        """Take over what a role allows."""
        for rule in rules:
            self._add(rule, grant)
        self._lengths = tuple({len(prefix) for _, prefix in self._prefixes})

    def _add(self, rule: Mapping[str, Any], grant: Grant) -> None:
        verbs = rule.get("verbs") or ()
        self._size += _entries(rule)
        self.tells_names_apart |= bool(rule.get("resourceNames"))
        if self._size > _MOST:
            self._wide.append(_Wide.of(rule, grant))
            return
        for verb, group, resource in product(verbs, rule.get("apiGroups") or (), rule.get("resources") or ()):
            kind = _ALL if resource == "*" else _SUBRESOURCE if resource.startswith("*/") else _EXACT
            self._shapes[verb == "*", group == "*", kind] = None
            entry = self._entries.setdefault((verb, group, resource), _Entry())
            names = rule.get("resourceNames")
            for name in names or ():
                entry.names.setdefault(name, grant)
            if not names:
                entry.every = entry.every or grant
        for verb, url in product(verbs, rule.get("nonResourceURLs") or ()):
            if url.endswith("*"):
                self._prefixes.setdefault((verb, url.rstrip("*")), grant)
            else:
                self._paths.setdefault((verb, url), grant)

    def resource(self, verb: str, group: str, resource: str, subresource: str, name: str) -> Grant | None:
        """Who allows a verb on an object (no name: on all)."""
        combined = f"{resource}/{subresource}" if subresource else resource
        entries = self._entries
        best: Grant | None = None
        for any_verb, any_group, kind in self._shapes:
            if kind == _SUBRESOURCE and not subresource:
                continue
            wanted = combined if kind == _EXACT else "*" if kind == _ALL else f"*/{subresource}"
            entry = entries.get(("*" if any_verb else verb, "*" if any_group else group, wanted))
            if entry is None:
                continue
            found = _first(entry.every, entry.names.get(name)) if name and entry.names else entry.every
            if found is not None and (best is None or found < best):
                best = found
        if self._wide:
            wanted_any = (combined, "*", f"*/{subresource}") if subresource else (combined, "*")
            for wide in self._wide:
                if wide.resource(verb, group, wanted_any, name):
                    best = _first(best, wide.grant)
        return best

    def path(self, verb: str, path: str) -> Grant | None:
        """Who allows a verb on a path that is no resource's."""
        best: Grant | None = None
        for wanted in (verb, "*"):
            best = _first(best, self._paths.get((wanted, path)))
            for length in self._lengths:
                if length <= len(path):
                    best = _first(best, self._prefixes.get((wanted, path[:length])))
        for wide in self._wide:
            if wide.path(verb, path):
                best = _first(best, wide.grant)
        return best


def _entries(rule: Mapping[str, Any]) -> int:
    """How many entries a rule comes to."""
    groups, resources, urls = (len(rule.get(field) or ()) for field in ("apiGroups", "resources", "nonResourceURLs"))
    return len(rule.get("verbs") or ()) * (groups * resources * (1 + len(rule.get("resourceNames") or ())) + urls)


def _first(one: Grant | None, other: Grant | None) -> Grant | None:
    """The grant that comes first."""
    if one is None or other is None:
        return one or other
    return min(one, other)
