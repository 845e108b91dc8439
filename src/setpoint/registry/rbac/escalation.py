"""Nobody gives what he has not: which rights of a role a user lacks, and how that is told.

Source: `component-helpers/auth/rbac/validation/policy_comparator.go`, `pkg/registry/rbac/validation/{rule,policy_compact}.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from setpoint.api.machinery.status import go_value

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


_FEW = 4  # words that are looked up in a list
_MOST_PARTS = 4_000  # that are looked at one by one; comparing them takes the event loop's time


def missing_rights(held: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of `wanted`, one verb on one resource each, that no rule of `held` covers.

    A short rule can come to millions of parts: where there are too many, one of `held` must cover a rule as a whole.
    """
    missing: list[Rule] = []
    looked_at = 0
    for rule in wanted:
        looked_at += _number(rule)
        if looked_at <= _MOST_PARTS:
            missing += [part for part in _parts(rule) if not any(_covers(owned, part) for owned in held)]
        elif not any(_covers(owned, rule) for owned in held):
            missing.append(rule)
    return missing


def _number(rule: Rule) -> int:
    """How many parts a rule has."""
    groups, resources, urls = (len(rule.get(field) or ()) for field in ("apiGroups", "resources", "nonResourceURLs"))
    return len(rule.get("verbs") or ()) * (groups * resources * max(1, len(rule.get("resourceNames") or ())) + urls)


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
    resources, held_resources = part.get("resources") or (), owned.get("resources") or ()
    if len(resources) > _FEW:
        held_resources = frozenset(held_resources)
    return (
        _has_all(owned.get("verbs") or (), part["verbs"])
        and _has_all(owned.get("apiGroups") or (), part.get("apiGroups") or ())
        and all(_covers_resource(held_resources, one) for one in resources)
        and (not held_names or (bool(names) and set(names) <= set(held_names)))
        and _covers_paths(owned.get("nonResourceURLs") or (), part.get("nonResourceURLs") or ())
    )


def _has_all(held: Sequence[str], wanted: Sequence[str]) -> bool:
    if "*" in held:
        return True
    return all(word in held for word in wanted) if len(wanted) <= _FEW else set(wanted) <= set(held)


def _covers_resource(held: Collection[str], resource: str) -> bool:
    _, slash, subresource = resource.partition("/")
    return "*" in held or resource in held or (bool(slash) and f"*/{subresource}" in held)


def _covers_paths(held: Sequence[str], urls: Sequence[str]) -> bool:
    if len(urls) * len(held) > _MOST_PARTS:
        return "*" in held or set(urls) <= set(held)
    return all(_covers_path(held, one) for one in urls)


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
        if "resources" not in rule or len(rule["resources"]) * len(rule["apiGroups"]) != 1:
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
    return f"[{' '.join(map(go_value, words))}]"
