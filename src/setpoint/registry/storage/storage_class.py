"""StorageClasses and VolumeAttributesClasses.

Source: `pkg/apis/storage/validation`, `pkg/apis/storage/v1/defaults.go`, `pkg/api/storage`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid, required, too_long
from setpoint.registry.fields import Errors, complain, immutable, one_of, qualified_name
from setpoint.registry.pod.warnings import DEPRECATED_NODE_LABELS
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_POLICIES = ("Delete", "Retain")
_MODES = ("Immediate", "WaitForFirstConsumer")
_MAX_PARAMETERS = 512
_MAX_PARAMETERS_SIZE = 256 * 1024  # bytes of all keys and values


class StorageClassStrategy(Strategy):
    """How volumes are made is for life; where they may be and how they are mounted is not."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        fill(obj, "reclaimPolicy", "Delete")
        fill(obj, "volumeBindingMode", "Immediate")

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = provisioner("provisioner", obj.get("provisioner", ""))
        errors += parameters("parameters", obj.get("parameters") or {})
        errors += one_of("reclaimPolicy", obj.get("reclaimPolicy") or None, _POLICIES)  # an empty one passes
        errors += one_of("volumeBindingMode", obj.get("volumeBindingMode"), _MODES)
        return errors + _topologies("allowedTopologies", obj.get("allowedTopologies") or ())

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = self.validate(context, obj)
        if (obj.get("parameters") or {}) != (old.get("parameters") or {}):
            errors.append(invalid("parameters", obj.get("parameters"), "field is immutable"))
        errors += immutable("provisioner", obj.get("provisioner", ""), old.get("provisioner", ""))
        errors += immutable("reclaimPolicy", obj.get("reclaimPolicy"), old.get("reclaimPolicy"))
        return errors + immutable("volumeBindingMode", obj.get("volumeBindingMode"), old.get("volumeBindingMode"))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return [
            f"allowedTopologies[{i}].matchLabelExpressions[{j}].key: {DEPRECATED_NODE_LABELS[expression['key']]}"
            for i, term in enumerate(obj.get("allowedTopologies") or ())
            for j, expression in enumerate(term.get("matchLabelExpressions") or ())
            if expression.get("key") in DEPRECATED_NODE_LABELS
        ]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)


def provisioner(path: str, name: str) -> Errors:
    return qualified_name(path, name.lower()) if name else [required(path)]


def parameters(path: str, values: Mapping[str, str]) -> Errors:
    if len(values) > _MAX_PARAMETERS:
        return [too_long(path, _MAX_PARAMETERS)]
    errors: Errors = [invalid(path, "", "field can not be empty.")] if "" in values else []
    if names.annotations_size(values) > _MAX_PARAMETERS_SIZE:
        errors.append(too_long(path, _MAX_PARAMETERS_SIZE))
    return errors


def _topologies(path: str, terms: Sequence[Mapping[str, Any]]) -> Errors:
    """Terms must differ. Kubernetes compares each with as many empty ones too as there are terms."""
    errors: Errors = []
    seen: list[dict[str, frozenset[str]]] = [{} for _ in terms]
    for i, term in enumerate(terms):
        here = f"{path}[{i}].matchLabelExpressions"
        wanted: dict[str, frozenset[str]] = {}
        for j, expression in enumerate(term.get("matchLabelExpressions") or ()):
            key = expression.get("key", "")
            errors += _expression(f"{here}[{j}]", expression)
            if key in wanted:
                errors.append(duplicate(f"{here}[{j}].key", key))
            wanted[key] = frozenset(expression.get("values") or ())
        errors += [duplicate(here, "") for one in seen if one == wanted]
        seen.append(wanted)
    return errors


def _expression(path: str, expression: Mapping[str, Any]) -> Errors:
    values, key = expression.get("values") or [], expression.get("key", "")
    errors: Errors = [] if values else [required(f"{path}.values")]
    errors += [duplicate(f"{path}.values[{i}]", value) for i, value in enumerate(values) if value in values[:i]]
    return errors + complain(f"{path}.key", key, names.label_key(key))


class VolumeAttributesClassStrategy(Strategy):
    """A class of attributes never changes."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        values = obj.get("parameters") or {}
        errors = provisioner("driverName", obj.get("driverName", ""))
        if not values:
            return [*errors, required("parameters", "must contain at least one key/value pair")]
        return errors + parameters("parameters", values)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors: Errors = []
        for field in ("driverName", "parameters"):
            if obj.get(field) != old.get(field):
                errors.append(forbidden(field, f"updates to {field} are forbidden."))
        return errors + self.validate(context, obj)
