"""Whether a custom object is valid: schema, embedded resources, lists that are sets or maps, rules.

Source: apiextensions-apiserver `pkg/registry/customresource/validator.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery.schema import list_types, scale_fields, validating
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry.apiextensions import embedded
from setpoint.registry.strategy import Object

_BLOCKING = {
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
}
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
)


class Validator:
    """The rules of one version; the rules in CEL are compiled when the first object comes."""

    def __init__(self, schema: Mapping[str, Any], node: Callable[[], Node], scale: Mapping[str, Any] | None) -> None:
        self.schema = schema
        self._node = node
        self._scale = scale
        self._program: Any = None
        self._compiled = False
        self._embeds = embedded.any_embedded(schema)

    def settle_embedded(self, obj: Object) -> list[str]:
        """Give the metadata of embedded resources the form that metadata has; the paths of what was dropped."""
        return embedded.settle(obj, self.schema) if self._embeds else []

    def validate(self, obj: Object) -> list[FieldError]:
        errors = validating.validate(obj, self.schema)
        errors += self._scaling(obj)
        if self._embeds:
            errors += embedded.validate(obj, self.schema)
        errors += list_types.repeated(obj, self.schema)
        return errors + self._rules(obj, None, errors, [])

    def validate_status(self, obj: Object, old: Object, warnings: list[str]) -> list[FieldError]:
        """A write of status alone: the schema of status, and the rules of all."""
        schema = (self.schema.get("properties") or {}).get("status")
        errors: list[FieldError] = []
        if schema is not None and "status" in obj:
            found = validating.validate(obj["status"], schema, *((old["status"],) if "status" in old else ()))
            errors = [FieldError(each.reason, _below("status", each.field), each.value, each.detail) for each in found]
        errors += self._scaled(obj)
        if not list_types.repeated(old, self.schema):
            errors += list_types.repeated(obj, self.schema)
        return errors + self._rules(obj, old, errors, warnings)

    def validate_update(self, obj: Object, old: Object, warnings: list[str]) -> list[FieldError]:
        """What is wrong; a rule that what did not change breaks is only added to the warnings."""
        errors = validating.validate(obj, self.schema, old)
        errors += self._scaling(obj)
        if self._embeds:
            errors += embedded.validate(obj, self.schema)
        if not list_types.repeated(old, self.schema):
            errors += list_types.repeated(obj, self.schema)
        return errors + self._rules(obj, old, errors, warnings)

    def _rules(self, obj: Object, old: Object | None, errors: list[FieldError], warnings: list[str]) -> list[FieldError]:
        program = self._rules_program()
        if program is None:
            return []
        if any(error.reason in _BLOCKING for error in errors):
            return [invalid("<nil>", None, _UNCHECKED)]
        found: tuple[list[FieldError], list[str]] = program.review(obj, old)
        warnings += found[1]
        return found[0]

    def _rules_program(self) -> Any:
        if not self._compiled:
            self._compiled = True
            if validating.has_rules(self.schema):
                from setpoint.api.machinery import cel

                self._program = cel.compile_rules(self.schema)
        return self._program

    def _scaling(self, obj: Object) -> list[FieldError]:
        if not self._scale:
            return []
        return scale_fields.replicas(obj, self._scale["specReplicasPath"]) + self._scaled(obj)

    def _scaled(self, obj: Object) -> list[FieldError]:
        """What status says of its scale."""
        if not self._scale:
            return []
        errors = scale_fields.replicas(obj, self._scale["statusReplicasPath"])
        path = self._scale.get("labelSelectorPath")
        return errors + scale_fields.selector(obj, path) if path else errors


def _below(path: str, field: str) -> str:
    return path if field == "<nil>" else f"{path}{field}" if field.startswith("[") else f"{path}.{field}"
