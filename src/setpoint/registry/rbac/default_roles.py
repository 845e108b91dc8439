"""The roles and bindings that every cluster has, read from `default_roles.txt`.

Source: Kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

Body = dict[str, Any]
#: namespace (empty: none) and name
Key = tuple[str, str]

_GROUP = "rbac.authorization.k8s.io"
_CONTROLLERS = "system:controller:"


class Defaults(NamedTuple):
    """All of them, by kind."""

    cluster_roles: list[Body]
    cluster_role_bindings: list[Body]
    roles: list[Body]
    role_bindings: list[Body]


def defaults() -> Defaults:
    """New objects at each call."""
    seeds = Seeds()
    cluster_roles: list[Body] = []
    roles: list[Body] = []
    for key in seeds.roles():
        (roles if key[0] else cluster_roles).append(seeds.role(key))
    bindings = list(seeds.bindings())
    cluster_bindings = [binding for binding in bindings if "namespace" not in binding["metadata"]]
    return Defaults(
        cluster_roles, cluster_bindings, roles, [binding for binding in bindings if "namespace" in binding["metadata"]]
    )


class Seeds:
    """The same, piece by piece: a role's rules are read when somebody asks for them, so that a start need not read them all."""

    def __init__(self) -> None:
        self._headers: dict[Key, str] = {}
        self._rules: dict[Key, list[str]] = {}
        self._bindings: list[str] = []
        rules: list[str] = []
        for line in _lines():
            if line.startswith("= "):
                self._bindings.append(line[2:])
            elif line.startswith(" "):
                rules.append(line)
            else:
                namespace, _, name = line.partition(" ")[0].rpartition("/")
                rules = self._rules[namespace, name] = []
                self._headers[namespace, name] = line

    def roles(self) -> Iterator[Key]:
        """Namespace (empty: a ClusterRole) and name of every role."""
        return iter(self._headers)

    def bindings(self) -> Iterator[Body]:
        """Every binding, those of controllers' accounts, too."""
        yield from map(_binding, self._bindings)
        names = sorted(name for namespace, name in self._headers if not namespace and name.startswith(_CONTROLLERS))
        yield from map(_controller, names)

    def role(self, key: Key) -> Body:
        """A whole role, which is nobody else's."""
        role = _role(self._headers[key])
        role["rules"] = self.rules(key)
        return role

    def rules(self, key: Key) -> list[Body]:
        """A role's rules, its own or those that it gathers: each once, by the names of the roles that have them."""
        source = _words(self._headers[key])[1]
        if source == "-":
            return list(map(_rule, self._rules[key]))
        gathered: list[Body] = []
        for other in sorted(self._headers):
            if _words(self._headers[other])[2] == source and other != key:
                gathered += [rule for rule in self.rules(other) if rule not in gathered]
        return gathered


def _lines() -> Iterator[str]:
    """Lines without comments; those that end with a comma are joined with the next."""
    text = resources.files(__package__).joinpath("default_roles.txt").read_text(encoding="utf-8")
    held = ""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        held += line.strip() if held else line
        if not held.endswith(","):
            yield held
            held = ""


def _metadata(word: str) -> Body:
    namespace, slash, name = word.rpartition("/")
    metadata: Body = {"name": name}
    if slash:
        metadata["namespace"] = namespace
    metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    metadata["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    return metadata


def _words(line: str) -> tuple[str, str, str]:
    """A role's name, what it gathers, what gathers it."""
    name, source, target = (*line.split(), "-", "-")[:3]
    return name, source, target


def _role(line: str) -> Body:
    name, source, target = _words(line)
    role: Body = {"metadata": _metadata(name), "rules": []}
    if target != "-":
        role["metadata"]["labels"][f"{_GROUP}/aggregate-to-{target}"] = "true"
    if source != "-":
        selector = {"matchLabels": {f"{_GROUP}/aggregate-to-{source}": "true"}}
        role["aggregationRule"] = {"clusterRoleSelectors": [selector]}
    return role


def _rule(line: str) -> Body:
    verbs, *rest = ([word if word != "-" else "" for word in part.split(",")] for part in line.split())
    if len(rest) == 1:
        return {"verbs": verbs, "nonResourceURLs": rest[0]}
    return {"verbs": verbs, **dict(zip(("apiGroups", "resources", "resourceNames"), rest, strict=False))}


def _binding(line: str) -> Body:
    name, role, *subjects = line.split()
    kind = "Role" if role.startswith("Role/") else "ClusterRole"
    reference = {"apiGroup": _GROUP, "kind": kind, "name": role.removeprefix("Role/")}
    body: Body = {"metadata": _metadata(name), "roleRef": reference}
    if subjects:
        body["subjects"] = list(map(_subject, subjects))
    return body


def _controller(name: str) -> Body:
    return _binding(f"{name} {name} account:kube-system/{name.removeprefix(_CONTROLLERS)}")


def _subject(word: str) -> Body:
    kind, _, name = word.partition(":")
    if kind == "account":
        namespace, _, name = name.partition("/")
        return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    return {"kind": kind.capitalize(), "apiGroup": _GROUP, "name": name}
