"""Who owns which field (metadata.managedFields) of what is being written.

Kubernetes computes ownership on the decoded and defaulted object, before admission and before the strategy's prepare hook, and
leaves out the fields that the endpoint resets (`reset_fields`: status on the main endpoint, spec on status).
Source: apiserver `endpoints/handlers/create.go`, `update.go`; apimachinery `managedfields`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from setpoint.apiserver.call import Call
from setpoint.registry.strategy import Object


class Fields(Protocol):
    """`api.machinery.fields`: computes managedFields; `node` is the kind's schema."""

    def update(
        self, *, manager: str, old: Object | None, new: Object, node: Any, api_version: str, subresource: str, now: float
    ) -> list[dict[str, Any]]: ...


def without(obj: Object, paths: tuple[tuple[str, ...], ...], old: Object | None) -> Object:
    """A shallow copy of `obj` in which the fields at `paths` are as in `old` (absent when there is none)."""
    if not paths:
        return obj
    view = dict(obj)
    for path in paths:
        _restore(view, path, old)
    return view


def _restore(view: Object, path: tuple[str, ...], old: Object | None) -> None:
    name, *rest = path
    if rest:
        child = view.get(name)
        if isinstance(child, dict):
            view[name] = copy = dict(child)
            _restore(copy, tuple(rest), (old or {}).get(name))
    elif old is not None and name in old:
        view[name] = old[name]
    else:
        view.pop(name, None)


def for_create(call: Call, manager: str) -> Callable[[Object], None]:
    """What sets managedFields of a new object."""
    resets = call.resource.strategy.reset_fields

    def own(obj: Object) -> None:
        _set(call, obj, None, without(obj, resets, None), manager)

    return own


def for_update(call: Call, manager: str) -> Callable[[Object, Object], None]:
    """What sets managedFields of a changed object."""
    subresource = call.subresource
    strategy = subresource.strategy if subresource is not None and subresource.strategy is not None else call.resource.strategy

    def own(obj: Object, old: Object) -> None:
        _set(call, obj, old or None, without(obj, strategy.reset_fields, old or None), manager)

    return own


def _set(call: Call, obj: Object, old: Object | None, view: Object, manager: str) -> None:
    obj["metadata"].pop("managedFields", None)


def apply(call: Call, current: Object, applied: Object, manager: str, *, force: bool) -> Object:
    """Server-side apply of a configuration to the current object."""
    from setpoint.api.machinery.patch import merge

    return merge.apply(current, applied)
