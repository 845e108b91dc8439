"""PersistentVolumeClaims.

Source: `pkg/registry/core/persistentvolumeclaim`, `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import quantity
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, immutable, qualified_name
from setpoint.registry.persistent_volume_claim.spec import validate_claim_spec
from setpoint.registry.pod.defaults import default_claim_spec
from setpoint.registry.pod.validation.resources import amount, is_native, resource_amount
from setpoint.registry.pod.warnings import claim_warnings
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

Spec = Mapping[str, Any]

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_SOURCES = {("PersistentVolumeClaim", ""), ("VolumeSnapshot", "snapshot.storage.k8s.io")}
_RESIZE = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizePending",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
)


class PersistentVolumeClaimStrategy(SpecStatusStrategy):
    """The main endpoint."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    validates_whole_twice_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_claim_spec(obj.setdefault("spec", {}))
        status = obj.setdefault("status", {})
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending"}
        _drop_sources(obj["spec"], {})
        _mirror_sources(obj["spec"])

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        _drop_sources(obj.setdefault("spec", {}), old.get("spec") or {})
        _mirror_sources(obj["spec"])

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return _warnings(obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return _warnings(obj)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return validate_claim_spec("spec", obj.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        # Kubernetes checks the whole claim twice here, and says so: causes repeat
        before = old.get("spec") or {}
        sourced = any((before.get(field) or {}).get("apiGroup") is not None for field in ("dataSource", "dataSourceRef"))
        whole = validate_claim_spec("spec", obj.get("spec") or {}, any_group=sourced)
        return whole + whole + _change_errors(obj, old)


def _warnings(claim: Object) -> list[str]:
    key = _BETA_CLASS
    old_way = key in (claim["metadata"].get("annotations") or {})
    out = [f'metadata.annotations[{key}]: deprecated since v1.8; use "storageClassName" attribute instead'] if old_way else []
    return out + claim_warnings("spec", claim.get("spec") or {})


def _drop_sources(spec: Object, old: Spec) -> None:
    """Sources of other namespaces belong to a feature that is off; `dataSource` takes claims and snapshots only, silently."""
    reference = spec.get("dataSourceRef")
    if reference is not None and reference.get("namespace") and old.get("dataSourceRef") is None:
        reference = spec.pop("dataSourceRef") and None
    source = spec.get("dataSource")
    if source is None or reference is not None or old.get("dataSource") is not None or old.get("dataSourceRef") is not None:
        return
    if (source.get("kind"), source.get("apiGroup") or "") not in _SOURCES:
        del spec["dataSource"]


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
    errors = _class_annotation(obj, old)
    if not before.get("volumeName"):
        compared["volumeName"] = new.get("volumeName", "")
    former = (old["metadata"].get("annotations") or {}).get(_BETA_CLASS)
    if (
        before.get("storageClassName") is None
        and new.get("storageClassName") is not None
        and former in {None, new["storageClassName"]}
    ):
        munged["storageClassName"] = None
    resources = new.get("resources") or {}
    if status.get("phase") == "Bound" and resources.get("requests") is not None:
        storage = {"storage": str(_storage((before.get("resources") or {}).get("requests")))}
        munged["resources"] = {**resources, "requests": {**resources["requests"], **storage}}
    if status.get("phase") == "Bound" and new.get("volumeAttributesClassName") is not None:
        munged["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    one, other = (go_form.of(_printable(spec), "PersistentVolumeClaimSpec") for spec in (compared, munged))
    if not go_form.equal(one, other):
        why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        errors.append(forbidden("spec", f"{why}\n{go_form.diff(one, other)}"))
    errors += _shrinking(new, before, status)
    errors += immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))
    return errors + _attributes(new.get("volumeAttributesClassName"), before.get("volumeAttributesClassName"))


def _class_annotation(obj: Object, old: Object) -> Errors:
    """The annotation that once named the class is fixed, unless it becomes the field of the same value."""
    new, before = (one["metadata"].get("annotations") or {} for one in (obj, old))
    name, former = (obj.get("spec") or {}).get("storageClassName"), before.get(_BETA_CLASS)
    moved = former is not None and (old.get("spec") or {}).get("storageClassName") is None and name == former
    if moved and new.get(_BETA_CLASS) in {None, former}:
        return []
    return immutable(f"metadata.annotations.{_BETA_CLASS}", new.get(_BETA_CLASS, ""), former or "")


def _attributes(new: str | None, old: str | None) -> Errors:
    if old is None or new or new == old:
        return []
    what = "nil" if new is None else "an empty string"
    return [forbidden("spec.volumeAttributesClassName", f"update from non-nil value to {what} is forbidden")]


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
    for name, value in sorted((status.get("capacity") or {}).items()):
        errors += _basic(f"status.capacity[{name}]", value)
    for name, state in sorted((status.get("allocatedResourceStatuses") or {}).items()):
        errors += _resource_key("status.allocatedResourceStatus", name)
        if state not in _RESIZE:
            errors.append(not_supported("status.allocatedResourceStatus", name, sorted(_RESIZE)))
    for name, value in sorted((status.get("allocatedResources") or {}).items()):
        here = f"status.allocatedResources[{name}]"
        errors += (
            _resource_key("status.allocatedResources", name) or _basic(here, value) or resource_amount(here, "storage", value)
        )
    return errors


def _basic(path: str, value: Any) -> Errors:
    parsed = amount(value)
    return [invalid(path, parsed.value(), "must be a valid resource quantity")] if parsed.nanos < 0 else []


def _resource_key(path: str, name: str) -> Errors:
    """Of Kubernetes' own resources only storage."""
    errors = qualified_name(path, name)
    return errors if errors or not is_native(name) or name == "storage" else [not_supported(path, name, ("storage",))]


def persistent_volume_claim_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(PersistentVolumeClaimStrategy(), validate_status=_validate_status)
