"""Which FlowSchema a request belongs to.

Source: apiserver `util/flowcontrol/rule.go`. Schemas are asked in the order of `matchingPrecedence`, then of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.routing import RequestInfo

Spec = Mapping[str, Any]
MatchesUser = Callable[[UserInfo], bool]


class Words:
    """A list of names in which `*` stands for all."""

    __slots__ = ("_all", "_words")

    def __init__(self, words: Iterable[str] | None) -> None:
        self._words = frozenset(words or ())
        self._all = "*" in self._words

    def __contains__(self, word: str) -> bool:
        return self._all or word in self._words


class ResourceRule:
    """Requests for resources: by verb, group, resource (`pods/log`) and namespace."""

    def __init__(self, rule: Spec) -> None:
        self._verbs = Words(rule.get("verbs"))
        self._groups = Words(rule.get("apiGroups"))
        self._resources = Words(rule.get("resources"))
        self._namespaces = Words(rule.get("namespaces"))
        self._cluster = bool(rule.get("clusterScope"))

    def matches(self, info: RequestInfo) -> bool:
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        if info.verb not in self._verbs or info.group not in self._groups or resource not in self._resources:
            return False
        return info.namespace in self._namespaces if info.namespace else self._cluster


class PathRule:
    """Requests for anything else: by verb and path, in which a `*` at the end stands for any rest."""

    def __init__(self, rule: Spec) -> None:
        self._verbs = Words(rule.get("verbs"))
        self._paths = tuple(rule.get("nonResourceURLs") or ())

    def matches(self, info: RequestInfo) -> bool:
        return info.verb in self._verbs and any(path_matches(info.path, pattern) for pattern in self._paths)


def path_matches(path: str, pattern: str) -> bool:
    return path == pattern or (pattern.endswith("*") and path.startswith(pattern.rstrip("*")))


class Rule:
    """Some subjects and what they ask for."""

    def __init__(self, rule: Spec) -> None:
        self._subjects = [subject(each) for each in rule.get("subjects") or ()]
        self._resources = [ResourceRule(each) for each in rule.get("resourceRules") or ()]
        self._paths = [PathRule(each) for each in rule.get("nonResourceRules") or ()]

    def matches(self, user: UserInfo, info: RequestInfo) -> bool:
        if not any(is_it(user) for is_it in self._subjects):
            return False
        rules: Sequence[ResourceRule | PathRule] = self._resources if info.is_resource else self._paths
        return any(rule.matches(info) for rule in rules)


def subject(given: Spec) -> MatchesUser:
    """Whether a user is the subject of a rule."""
    match given.get("kind"):
        case "User":
            name = (given.get("user") or {}).get("name", "")
            return lambda user: name in ("*", user.name)
        case "Group":
            group = (given.get("group") or {}).get("name", "")
            return lambda user: group == "*" or group in user.groups
        case "ServiceAccount":
            return _service_account(given.get("serviceAccount") or {})
    return lambda _: False


def _service_account(given: Spec) -> MatchesUser:
    space = f"system:serviceaccount:{given.get('namespace', '')}:"
    if given.get("name") == "*":
        return lambda user: user.name.startswith(space) and ":" not in user.name[len(space) :]
    full = space + given.get("name", "")
    return lambda user: user.name == full


class Schema(Struct, frozen=True):
    """A FlowSchema as requests are asked for it. `method` is ByUser, ByNamespace or empty: what tells its flows apart."""

    name: str
    uid: str
    precedence: int
    level: str
    method: str
    rules: tuple[Rule, ...]

    def matches(self, user: UserInfo, info: RequestInfo) -> bool:
        return any(rule.matches(user, info) for rule in self.rules)

    def distinguisher(self, user: UserInfo, info: RequestInfo) -> str:
        """What makes a flow of its own of this request's kind."""
        if self.method == "ByUser":
            return user.name
        return info.namespace if self.method == "ByNamespace" else ""


def schema(name: str, uid: str, spec: Spec) -> Schema:
    """A FlowSchema from its object."""
    return Schema(
        name=name,
        uid=uid,
        precedence=int(spec.get("matchingPrecedence") or 0),
        level=(spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        method=(spec.get("distinguisherMethod") or {}).get("type", ""),
        rules=tuple(Rule(each) for each in spec.get("rules") or ()),
    )


def in_order(schemas: Iterable[Schema]) -> list[Schema]:
    """Schemas as they are to be asked."""
    return sorted(schemas, key=lambda each: (each.precedence, each.name))
