"""Strategies of kinds that have a spec written by users and a status written by the system.

The split is enforced here: the main endpoint never changes status, the `status` endpoint never changes spec.
Source: the strategies under Kubernetes `pkg/registry`, which all have these same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery.status import FieldError
from setpoint.registry.strategy import Context, Object, Strategy

#: what the newer kinds let nobody change through `status` (apimachinery's `ResetObjectMetaForStatus`)
STATUS_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class SpecStatusStrategy(Strategy):
    """Status is dropped from what is created and kept from the old object on update."""

    reset_fields: tuple[tuple[str, ...], ...] = (("status",),)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj.pop("status", None)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "status")


class VersionedSpecStatusStrategy(SpecStatusStrategy):
    """The same, for kinds whose PUT must name the version that it replaces."""

    allow_unconditional_update = False


class StatusStrategy(Strategy):
    """The `status` endpoint of a kind: takes the new status, keeps `keep` and `keep_metadata` from the old object.

    Which metadata can be changed through `status` differs from kind to kind in Kubernetes, by accident of history; so it is an
    argument.
    """

    def __init__(
        self,
        main: Strategy,
        *,
        keep: tuple[str, ...] = ("spec",),
        keep_metadata: tuple[str, ...] = (),
        validate_status: Callable[[Object, Object], list[FieldError]] | None = None,
    ) -> None:
        self.main = main
        self.allow_unconditional_update = main.allow_unconditional_update
        self.keep = keep
        self.keep_metadata = keep_metadata
        self.validate_status = validate_status
        self.reset_fields = tuple((name,) for name in keep) + tuple(("metadata", name) for name in keep_metadata)

    def default(self, obj: Object) -> None:
        self.main.default(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        for name in self.keep:
            keep_field(obj, old, name)
        for name in self.keep_metadata:
            keep_field(obj["metadata"], old["metadata"], name)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validate_status(obj, old) if self.validate_status else []

    def canonicalise(self, obj: Object) -> None:
        self.main.canonicalise(obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return self.main.fields(obj)


def keep_field(obj: Object, old: Object, name: str) -> None:
    """Make `obj[name]` what it was in `old`, absent if it was absent."""
    if name in old:
        obj[name] = old[name]
    else:
        obj.pop(name, None)


def fill(obj: Object, name: str, value: Any) -> None:
    """Give a field its default where it is absent, or null (a field that is always written shows so when it is not set)."""
    if obj.get(name) is None:
        obj[name] = value
