"""PersistentVolumeClaims.

Source: `pkg/registry/core/persistentvolumeclaim`, `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import quantity
from setpoint.api.machinery.status import FieldError, forbidden
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, immutable
from setpoint.registry.persistent_volume_claim.spec import validate_claim_spec
from setpoint.registry.pod.defaults import default_claim_spec
from setpoint.registry.pod.validation.resources import amount, resource_amount
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

Spec = Mapping[str, Any]


class PersistentVolumeClaimStrategy(SpecStatusStrategy):
    """The main endpoint."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"name"})

    def default(self, obj: Object) -> None:
        default_claim_spec(obj.setdefault("spec", {}))
        status = obj.setdefault("status", {})
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending"}
        _mirror_sources(obj["spec"])

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return validate_claim_spec("spec", obj.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validate(context, obj) + _change_errors(obj, old)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"name": obj["metadata"].get("name", "")}


def _mirror_sources(spec: Object) -> None:
    """`dataSource` and `dataSourceRef` say the same while they stay in the namespace (KEP-1495)."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif source is None and reference is not None and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def _storage(holder: Spec | None) -> quantity.Quantity:
    value = (holder or {}).get("storage")
    return quantity.ZERO if value is None else amount(value)


def _change_errors(obj: Object, old: Object) -> Errors:
    """A claim is for life, but a bound one may grow and change its class of attributes."""
    new, before, status = obj.get("spec") or {}, old.get("spec") or {}, obj.get("status") or {}
    munged, compared = dict(new), dict(before)
    if not before.get("volumeName"):
        compared["volumeName"] = new.get("volumeName", "")
    if new.get("storageClassName") is not None and before.get("storageClassName") is None:
        munged["storageClassName"] = None
    if status.get("phase") == "Bound":
        resources = new.get("resources") or {}
        storage = {"storage": str(_storage((before.get("resources") or {}).get("requests")))}
        munged["resources"] = {**resources, "requests": {**(resources.get("requests") or {}), **storage}}
        if new.get("volumeAttributesClassName") is not None:
            munged["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    one, other = (go_form.of(_printable(spec), "PersistentVolumeClaimSpec") for spec in (compared, munged))
    errors: Errors = []
    if not go_form.equal(one, other):
        why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        errors.append(forbidden("spec", f"{why}\n{go_form.diff(one, other)}"))
    errors += _shrinking(new, before, status)
    return errors + immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))


def _printable(spec: Spec) -> Spec:
    return {**spec, "selector": go_form.label_selector(spec.get("selector"))}


def _shrinking(new: Spec, before: Spec, status: Spec) -> Errors:
    """A failed expansion may be taken back, though not below what there is."""
    size = _storage((new.get("resources") or {}).get("requests"))
    if size < _storage((before.get("resources") or {}).get("requests")) and size <= _storage(status.get("capacity")):
        return [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")]
    return []


def _validate_status(obj: Object, _old: Object) -> Errors:
    status = obj.get("status") or {}
    errors: Errors = []
    for field in ("capacity", "allocatedResources"):
        for name, value in sorted((status.get(field) or {}).items()):
            errors += resource_amount(f"status.{field}[{name}]", name, value)
    return errors


def persistent_volume_claim_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(PersistentVolumeClaimStrategy(), validate_status=_validate_status)
