"""The roles and bindings that every cluster has, read from `default_roles.txt`.

Source: Kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from setpoint.api.machinery.role_aggregation import aggregated_rules

Body = dict[str, Any]

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
    cluster_roles: list[Body] = []
    roles: list[Body] = []
    bindings: list[Body] = []
    last: Body = {}
    for line in _lines():
        if line.startswith("= "):
            bindings.append(_binding(line[2:]))
        elif line.startswith(" "):
            last["rules"].append(_rule(line))
        else:
            last = _role(line)
            (roles if "namespace" in last["metadata"] else cluster_roles).append(last)
    while changed := {
        role["metadata"]["name"]: rules
        for role in cluster_roles
        if "aggregationRule" in role and (rules := aggregated_rules(role, cluster_roles)) != role["rules"]
    }:
        for role in cluster_roles:
            role["rules"] = changed.get(role["metadata"]["name"], role["rules"])
    cluster_bindings = [binding for binding in bindings if "namespace" not in binding["metadata"]]
    names = {role["metadata"]["name"] for role in cluster_roles}
    cluster_bindings += [_controller(name) for name in sorted(names) if name.startswith(_CONTROLLERS)]
    return Defaults(
        cluster_roles, cluster_bindings, roles, [binding for binding in bindings if "namespace" in binding["metadata"]]
    )


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


def _role(line: str) -> Body:
    name, source, target = (*line.split(), "-", "-")[:3]
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
