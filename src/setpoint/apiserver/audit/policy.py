"""The audit policy: the first rule that a request matches says how much of it is recorded.

Source: apiserver `audit/policy` (reader, checker), `apis/audit/validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.event import LEVELS, NONE, STAGES
from setpoint.apiserver.routing import RequestInfo

_VERSIONS = ("audit.k8s.io/v1", "audit.k8s.io/v1beta1", "audit.k8s.io/v1alpha1")

Given = Mapping[str, Any]


class Verdict(Struct, frozen=True):
    """What is recorded of a request: its level, the stages that are left out, whether field managers are."""

    level: int
    omitted: frozenset[str] = frozenset()
    omit_managed_fields: bool = False


class _Rule:
    """One rule, as requests are asked for it."""

    def __init__(self, given: Given, omitted: frozenset[str], *, omit_managed_fields: bool) -> None:
        self._users = frozenset(given.get("users") or ())
        self._groups = frozenset(given.get("userGroups") or ())
        self._verbs = frozenset(given.get("verbs") or ())
        self._namespaces = frozenset(given.get("namespaces") or ())
        self._resources: list[Given] = given.get("resources") or []
        self._paths: list[str] = given.get("nonResourceURLs") or []
        self.is_for_all = not any((self._users, self._groups, self._verbs, self._namespaces, self._resources, self._paths))
        own = given.get("omitManagedFields")
        self.verdict = Verdict(
            LEVELS.index(given["level"]),
            omitted | frozenset(given.get("omitStages") or ()),
            omit_managed_fields if own is None else bool(own),
        )

    def matches(self, user: UserInfo | None, info: RequestInfo) -> bool:
        if self._users and (user is None or user.name not in self._users):
            return False
        if self._groups and (user is None or self._groups.isdisjoint(user.groups)):
            return False
        if self._verbs and info.verb not in self._verbs:
            return False
        if self._namespaces or self._resources:
            return info.is_resource and self._matches_resource(info)
        if self._paths:
            return not info.is_resource and any(_path_matches(info.path, pattern) for pattern in self._paths)
        return True

    def _matches_resource(self, info: RequestInfo) -> bool:
        if self._namespaces and info.namespace not in self._namespaces:
            return False
        if not self._resources:
            return True
        return any(_holds(each, info) for each in self._resources if each.get("group", "") == info.group)


def _holds(group: Given, info: RequestInfo) -> bool:
    """Whether an entry of a rule's resources names what is asked for."""
    resources, named = group.get("resources") or (), group.get("resourceNames") or ()
    if not resources:
        return True
    if named and info.name not in named:
        return False
    full = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    wanted = {full, "*", f"{info.resource}/*"}
    if info.subresource:
        wanted.add(f"*/{info.subresource}")
    return not wanted.isdisjoint(resources)


def _path_matches(path: str, pattern: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern.rstrip("*")))


class Policy:
    """All rules; a request that matches none is not recorded."""

    def __init__(self, given: Given) -> None:
        omitted = frozenset(given.get("omitStages") or ())
        managed = bool(given.get("omitManagedFields"))
        self._rules = [_Rule(rule, omitted, omit_managed_fields=managed) for rule in given.get("rules") or ()]
        #: the verdict on every request, where they are not told apart
        self.always = self._rules[0].verdict if self._rules and self._rules[0].is_for_all else None
        self._nothing = Verdict(NONE, omitted)

    def judge(self, user: UserInfo | None, info: RequestInfo) -> Verdict:
        for rule in self._rules:
            if rule.is_for_all or rule.matches(user, info):
                return rule.verdict
        return self._nothing


def read(file: Path) -> Policy:
    """The policy in a YAML file. Raises OSError, or ValueError with all that is wrong in one line."""
    import yaml

    try:
        given = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"failed decoding: {error}") from error
    if not isinstance(given, dict) or given.get("kind") != "Policy" or given.get("apiVersion") not in _VERSIONS:
        raise ValueError(f"it must be a Policy of {_VERSIONS[0]}")
    rules = given.get("rules")
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError("loaded illegal policy with 0 rules")
    if errors := [*_stage_errors("omitStages", given.get("omitStages") or ()), *_errors(rules)]:
        raise ValueError(", ".join(map(str, errors)))
    return Policy(given)


def _errors(rules: Iterable[Given]) -> Iterator[FieldError]:
    for number, rule in enumerate(rules):
        path = f"rules[{number}]"
        yield from _level_errors(f"{path}.level", rule.get("level") or "")
        yield from _path_errors(f"{path}.nonResourceURLs", rule.get("nonResourceURLs") or ())
        yield from _resource_errors(f"{path}.resources", rule.get("resources") or ())
        yield from _stage_errors(f"{path}.omitStages", rule.get("omitStages") or ())
        if rule.get("nonResourceURLs") and (rule.get("resources") or rule.get("namespaces")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", rule["nonResourceURLs"], why)


def _level_errors(path: str, level: str) -> Iterator[FieldError]:
    if not level:
        yield required(path)
    elif level not in LEVELS:
        yield not_supported(path, level, LEVELS)


def _path_errors(path: str, urls: Iterable[str]) -> Iterator[FieldError]:
    for number, url in enumerate(urls):
        if url == "*":
            continue
        if not url.startswith("/"):
            yield invalid(f"{path}[{number}]", url, "non-resource URL rules must begin with a '/' character")
        if "*" in url[:-1]:
            yield invalid(f"{path}[{number}]", url, "non-resource URL wildcards '*' must be the final character of the rule")


def _resource_errors(path: str, groups: Iterable[Given]) -> Iterator[FieldError]:
    for group in groups:
        name = group.get("group") or ""
        if name and (wrong := names.dns_subdomain(name)):
            yield invalid(f"{path}.group", name, ",".join(wrong))
        if group.get("resourceNames") and not group.get("resources"):
            yield invalid(f"{path}.resourceNames", group["resourceNames"], "using resourceNames requires at least one resource")


def _stage_errors(path: str, stages: Iterable[str]) -> Iterator[FieldError]:
    for number, stage in enumerate(stages):
        if stage not in STAGES:
            yield invalid(f"{path}[{number}]", stage, f"allowed stages are {','.join(STAGES)}")
