"""Which objects a list or watch is about: namespace, name, labels, fields."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from setpoint.api.machinery.status import bad_request
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import Selection
from setpoint.apiserver.options import ListOptions
from setpoint.registry.resource import ServedResource

Matcher = Callable[[Selection], bool]


class Scope(Struct, frozen=True):
    """`prefix` and, where one object alone can match, `key`; `matches` is None when everything under the prefix does."""

    prefix: str
    key: str
    matches: Matcher | None
    selective: bool


def scope_of(call: Call, options: ListOptions) -> Scope:
    """The scope of a list, watch or deletecollection. Raises 400 for fields that the kind does not have."""
    resource, fields = call.resource, options.fields
    namespace = call.info.namespace if resource.namespaced else ""
    if not fields.everything:
        check_fields(resource, options)
        namespace = namespace or (resource.namespaced and fields.exact("metadata.namespace")) or ""
    prefix = resource.prefix(namespace)
    name = fields.exact("metadata.name") if not fields.everything else None
    key = f"{prefix}{name}" if name and (namespace or not resource.namespaced) else ""
    selective = not (options.labels.everything and fields.everything)
    return Scope(prefix, key, _matcher(options) if selective else None, selective)


def _matcher(options: ListOptions) -> Matcher:
    labels, fields = options.labels, options.fields
    if fields.everything:
        return lambda selection: labels.matches(selection.labels)
    if labels.everything:
        return lambda selection: fields.matches(selection.fields)
    return lambda selection: labels.matches(selection.labels) and fields.matches(selection.fields)


def check_fields(resource: ServedResource, options: ListOptions) -> None:
    """400 for a field selector on a field that the kind does not offer."""
    special, custom = resource.strategy.selectable_fields, resource.custom
    if special or custom:
        known = {*special, "metadata.name"} | ({"metadata.namespace"} if resource.namespaced else set())
        unknown = options.fields.unsupported(known)
        if unknown is not None:
            raise bad_request(_UNSUPPORTED.get(resource.kind if not custom else "", _PLAIN).format(unknown))
        return
    unknown = options.fields.unsupported(("metadata.name", "metadata.namespace"))
    if unknown is not None:
        raise bad_request(f'"{unknown}" is not a known field selector: only "metadata.name", "metadata.namespace"')


_PLAIN = "field label not supported: {}"
#: what the conversions of some kinds say in their own way
_UNSUPPORTED = {
    "Job": 'field label "{}" not supported for Job',
    "StatefulSet": "field label not supported for appsv1.StatefulSet: {}",
    "ResourceSlice": "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
}
