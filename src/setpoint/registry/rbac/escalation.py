"""Nobody gives what he has not: which rights of a role a user lacks, and how that is told.

Source: `component-helpers/auth/rbac/validation/policy_comparator.go`, `pkg/registry/rbac/validation/{rule,policy_compact}.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from setpoint.api.machinery.schema.reading import go_quoted

Rule = Mapping[str, Any]

#: what a role may come to that gathers the rules of others
FULL_AUTHORITY: tuple[Rule, ...] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_SHOWN = (
    ("apiGroups", "APIGroups"),
    ("resources", "Resources"),
    ("nonResourceURLs", "NonResourceURLs"),
    ("resourceNames", "ResourceNames"),
    ("verbs", "Verbs"),
)


def missing_rights(held: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of `wanted`, one verb on one resource each, that no rule of `held` covers."""
    return [part for rule in wanted for part in _parts(rule) if not any(_covers(owned, part) for owned in held)]


def _parts(rule: Rule) -> Iterator[Rule]:
    verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or ()
    for group, resource, verb in product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs):
        single = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        if names:
            yield from ({**single, "resourceNames": [name]} for name in names)
        else:
            yield single
    for url, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield {"nonResourceURLs": [url], "verbs": [verb]}


def _covers(owned: Rule, part: Rule) -> bool:
    names, held_names = part.get("resourceNames") or (), owned.get("resourceNames") or ()
    return (
        _has_all(owned.get("verbs") or (), part["verbs"])
        and _has_all(owned.get("apiGroups") or (), part.get("apiGroups") or ())
        and all(_covers_resource(owned.get("resources") or (), one) for one in part.get("resources") or ())
        and (not held_names or (bool(names) and set(names) <= set(held_names)))
        and all(_covers_path(owned.get("nonResourceURLs") or (), one) for one in part.get("nonResourceURLs") or ())
    )


def _has_all(held: Sequence[str], wanted: Sequence[str]) -> bool:
    return "*" in held or all(word in held for word in wanted)


def _covers_resource(held: Sequence[str], resource: str) -> bool:
    _, slash, subresource = resource.partition("/")
    return "*" in held or resource in held or (bool(slash) and f"*/{subresource}" in held)


def _covers_path(held: Sequence[str], url: str) -> bool:
    return any(own == url or (own.endswith("*") and url.startswith(own.rstrip("*"))) for own in held)


def described(rules: Iterable[Rule]) -> str:
    """The rules as a refusal lists them: verbs of one resource together, a line each, sorted."""
    return "\n".join(sorted({_line(rule) for rule in _compacted(rules)}))


def _compacted(rules: Iterable[Rule]) -> list[Rule]:
    """Parts of one resource (and name) become one rule with all their verbs."""
    simple: dict[tuple[str, str, tuple[str, ...]], dict[str, Any]] = {}
    rest: list[Rule] = []
    for rule in rules:
        if "resources" not in rule:
            rest.append(rule)
            continue
        key = (rule["apiGroups"][0], rule["resources"][0], tuple(rule.get("resourceNames") or ()))
        if key in simple:
            simple[key]["verbs"] += rule["verbs"]
        else:
            simple[key] = {**rule, "verbs": [*rule["verbs"]]}
    return [*rest, *simple.values()]


def _line(rule: Rule) -> str:
    return f"{{{', '.join(f'{name}:{quoted_list(rule[key])}' for key, name in _SHOWN if rule.get(key))}}}"


def quoted_list(words: Iterable[str]) -> str:
    """A list as Go's `%q` writes it: `["a" "b"]`."""
    return f"[{' '.join(map(go_quoted, words))}]"
