"""What bodies of a version that is no longer served may hold: they are refused, but first warned about what they do not know.

Former versions have the fields of the present one, but for those listed here. Source: `k8s.io/api/networking/v1beta1`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from setpoint.api.machinery.schema.node import Fields, Node


def of_version(node: Node, api_version: str, kind: str) -> Node:
    """The tree of a kind in a former version, made from that of the present one."""
    change = _CHANGES.get((api_version, kind))
    return change(node) if change else node


def _with(node: Node, fields: Fields) -> Node:
    return copy.copy(node).lazily(lambda: fields)


def _ingress(node: Node) -> Node:
    """Backends had the service's name and port beside each other, and the default one another name."""
    spec = node.fields["spec"]
    backend = spec.fields["defaultBackend"]
    resource = backend.fields["resource"]
    older = _with(backend, {"resource": resource, "serviceName": Node("string"), "servicePort": Node("int-or-string")})
    spec_fields = {name: field for name, field in spec.fields.items() if name != "defaultBackend"}
    spec_fields |= {"backend": older, "rules": _with_backends(spec.fields["rules"], older)}
    return _with(node, {**node.fields, "spec": _with(spec, spec_fields)})


def _with_backends(rules: Node, backend: Node) -> Node:
    """`rules[].http.paths[].backend`."""
    rule = _item(rules)
    http = rule.fields["http"]
    paths = http.fields["paths"]
    path = _item(paths)
    paths = _listing(paths, _with(path, {**path.fields, "backend": backend}))
    return _listing(rules, _with(rule, {**rule.fields, "http": _with(http, {**http.fields, "paths": paths})}))


def _item(node: Node) -> Node:
    if node.items is None:
        raise TypeError(node)
    return node.items


def _listing(node: Node, item: Node) -> Node:
    found = copy.copy(node)
    found.items = item
    return found


_CHANGES: dict[tuple[str, str], Callable[[Node], Node]] = {
    ("networking.k8s.io/v1beta1", "Ingress"): _ingress,
    ("extensions/v1beta1", "Ingress"): _ingress,
}
