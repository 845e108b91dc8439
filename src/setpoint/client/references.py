"""References to objects, as events and bindings carry them (`core/v1 ObjectReference`)."""

from __future__ import annotations

import sys
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.client.objects import meta_of

_RESOURCES: dict[type[Any], Resource[Any] | None] = {}


def resource_of(type_: type[Any]) -> Resource[Any] | None:
    """The `Resource` constant that stands beside a generated Struct in its module; None for other types."""
    if type_ not in _RESOURCES:
        module = vars(sys.modules[type_.__module__])
        found = (each for each in module.values() if isinstance(each, Resource) and each.type is type_)
        _RESOURCES[type_] = next(found, None)
    return _RESOURCES[type_]


def reference_to(obj: Any, field_path: str = "") -> dict[str, str]:
    """A reference to an object (Struct or plain JSON); a mapping that is a reference already is taken as it is.

    Objects of a list do not know their kind; their Struct does.
    """
    if isinstance(obj, dict):
        reference = _of_json(obj)
    else:
        resource = resource_of(type(obj))
        meta = meta_of(obj)
        reference = {
            "kind": resource.kind if resource else getattr(obj, "kind", "") or type(obj).__name__,
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
            "apiVersion": resource.api_version if resource else getattr(obj, "api_version", ""),
            "resourceVersion": meta.resource_version,
        }
    if field_path:
        reference["fieldPath"] = field_path
    return {name: value for name, value in reference.items() if value}


def _of_json(obj: dict[str, Any]) -> dict[str, str]:
    if "metadata" not in obj:
        return dict(obj)
    meta = obj["metadata"]
    return {
        "kind": obj.get("kind", ""),
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "uid": meta.get("uid", ""),
        "apiVersion": obj.get("apiVersion", ""),
        "resourceVersion": meta.get("resourceVersion", ""),
    }
