"""Which writes a rule of a webhook or a policy is about.

Source: apiserver `admission/plugin/webhook/predicates/rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

ANY = "*"
GROUP = "admissionregistration.k8s.io"
#: what no webhook and no policy is asked about: else a bad one could not be taken away any more
EXEMPT = frozenset(
    (
        f"validatingwebhookconfigurations.{GROUP}",
        f"mutatingwebhookconfigurations.{GROUP}",
        f"validatingadmissionpolicies.{GROUP}",
        f"validatingadmissionpolicybindings.{GROUP}",
        f"mutatingadmissionpolicies.{GROUP}",
        f"mutatingadmissionpolicybindings.{GROUP}",
    )
)


class Target(Struct, frozen=True):
    """What is written to: a resource in a version, perhaps a part of it. `namespaced` says whether it lies in a namespace, which
    namespaces themselves do not.
    """

    group: str
    version: str
    plural: str
    subresource: str = ""
    namespaced: bool = True


class Rule(Struct, frozen=True):
    """A rule as configurations have it; `resources` are pairs of resource and subresource."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str = ANY
    names: frozenset[str] = frozenset()

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Rule:
        return cls(
            operations=frozenset(given.get("operations") or ()),
            groups=frozenset(given.get("apiGroups") or ()),
            versions=frozenset(given.get("apiVersions") or ()),
            resources=tuple(_split(each) for each in given.get("resources") or ()),
            scope=given.get("scope") or ANY,
            names=frozenset(given.get("resourceNames") or ()),
        )

    def matches(self, operation: str, target: Target, name: str = "") -> bool:
        """Whether the rule is about a write."""
        return (
            self._scoped(namespaced=target.namespaced)
            and self.could_match(operation, target.group, target.plural, target.subresource)
            and _has(self.versions, target.version)
            and (not self.names or name in self.names)
        )

    def could_match(self, operation: str, group: str, plural: str, subresource: str) -> bool:
        """Whether it may be about such a write in some version, in some namespace or outside."""
        return _has(self.operations, operation) and _has(self.groups, group) and self._names(plural, subresource)

    def _scoped(self, *, namespaced: bool) -> bool:
        return self.scope == ANY or (self.scope == "Namespaced") == namespaced

    def _names(self, plural: str, subresource: str) -> bool:
        return any(one in (ANY, plural) and part in (ANY, subresource) for one, part in self.resources)


def _has(words: frozenset[str], word: str) -> bool:
    return word in words or ANY in words


def _split(resource: str) -> tuple[str, str]:
    plural, _, subresource = resource.partition("/")
    return plural, subresource


def read_rules(given: Iterable[Mapping[str, Any]] | None) -> tuple[Rule, ...]:
    return tuple(Rule.read(each) for each in given or ())
