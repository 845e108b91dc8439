"""The rules of custom objects: status apart where it is a subresource, generation, validation by schema and rules.

Source: apiextensions-apiserver `pkg/registry/customresource` (strategy.go, status_strategy.go, validator.go).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.api.machinery.jsonpath import JsonPath
from setpoint.api.machinery.schema import pruning
from setpoint.api.machinery.status import FieldError
from setpoint.apiserver.custom_resources.validation import Validator
from setpoint.registry.spec_status import keep_field
from setpoint.registry.strategy import Context, Object, Strategy

_STANDARD = ("kubernetes", "orphan", "foregroundDeletion")


class Selectable(Struct, frozen=True):
    """A field selector of the definition: its name (`spec.color`) and where the value stands."""

    name: str
    path: JsonPath

    def value(self, obj: Object) -> str:
        found = self.path.find(obj)
        if not found or found[0] is None:
            return ""
        return str(found[0]).lower() if isinstance(found[0], bool) else str(found[0])


class CustomStrategy(Strategy):
    """The main endpoint of one version."""

    has_generation: ClassVar[bool] = True
    allow_unconditional_update = False

    def __init__(self, validator: Validator, selectable: tuple[Selectable, ...], *, status: bool) -> None:
        self.validator = validator
        self.has_status = status
        self.reset_fields = (("status",),) if status else ()
        self._selectable = selectable
        self.selectable_fields = frozenset(field.name for field in selectable)  # type: ignore[misc]  # each kind has its own

    def default(self, obj: Object) -> None:
        pruning.prune(obj, self.validator.schema)
        pruning.default(obj, self.validator.schema)
        self.validator.settle_embedded(obj)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        if self.has_status:
            obj.pop("status", None)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return _unqualified(obj, ())

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return _unqualified(obj, old["metadata"].get("finalizers") or ())

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        if self.has_status:
            keep_field(obj, old, "status")

    def generation_changed(self, obj: Object, old: Object) -> bool:
        return _without_metadata(obj) != _without_metadata(old)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return self.validator.validate(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validator.validate_update(obj, old, context.warnings)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {field.name: field.value(obj) for field in self._selectable}


class CustomStatusStrategy(Strategy):
    """The `status` endpoint: nothing but status and the fields' owners can change."""

    allow_unconditional_update = False
    reset_fields = (("spec",), ("metadata",))

    def __init__(self, main: CustomStrategy) -> None:
        self.main = main

    def default(self, obj: Object) -> None:
        self.main.default(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        status, metadata = obj.get("status"), dict(old["metadata"])
        keep_field(metadata, obj["metadata"], "managedFields")
        had = "status" in obj
        obj.clear()
        obj.update(old)
        obj["metadata"] = metadata
        if had:
            obj["status"] = status
        else:
            obj.pop("status", None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.main.validator.validate_status(obj, old, context.warnings)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return self.main.fields(obj)


def _unqualified(obj: Object, known: Collection[str]) -> list[str]:
    """Warnings about new finalizers that others may use as well."""
    found = []
    for word in sorted({*(obj["metadata"].get("finalizers") or ())} - {*known}):
        messages = names.qualified_name(word)
        if "/" not in word and word not in _STANDARD:
            path = " including a path (/)" if "." in word else ""
            messages = [
                *messages,
                f"prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
            ]
        found += [f'metadata.finalizers: "{word}": {message}' for message in messages]
    return found


def _without_metadata(obj: Object) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != "metadata"}
