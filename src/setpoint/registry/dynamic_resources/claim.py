"""ResourceClaims and ResourceClaimTemplates.

Source: `pkg/registry/resource/resourceclaim`, `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.registry import formats, go_form
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.binding_conditions import validate_binding_conditions
from setpoint.registry.dynamic_resources.claim_spec import (
    Requests,
    default_claim,
    request_names,
    request_reference,
    request_references,
    validate_claim,
)
from setpoint.registry.dynamic_resources.collections import each, each_once
from setpoint.registry.dynamic_resources.device_status import validate_devices
from setpoint.registry.fields import Errors, dns_label, labels
from setpoint.registry.pod.validation.affinity import validate_node_selector
from setpoint.registry.spec_status import STATUS_METADATA, SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object, Strategy

_MAX_CONSUMERS = 256
_MAX_RESULTS = 32
_SOURCES = ("FromClaim", "FromClass")

Spec = Mapping[str, Any]


class ResourceClaimStrategy(SpecStatusStrategy):
    """The main endpoint: what is asked for cannot be changed."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_claim(obj.setdefault("spec", {}))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return validate_claim("spec", obj.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = (go_form.of(one.get("spec") or {}, "ResourceClaimSpec") for one in (obj, old))
        return [] if go_form.equal(new, before) else [invalid("spec", new, formats.IMMUTABLE)]


def _validate_status(obj: Object, old: Object) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    consumers, allocation = status.get("reservedFor") or [], status.get("allocation")
    path = "status.reservedFor"
    errors = each_once(path, consumers, _consumer, lambda consumer: consumer.get("uid", ""), _MAX_CONSUMERS)
    errors += validate_devices("status.devices", status.get("devices") or (), allocation)
    if consumers and allocation is None:
        errors.append(forbidden(path, "may not be specified when `allocated` is not set"))
    elif obj["metadata"].get("deletionTimestamp") and any(one not in (before.get("reservedFor") or ()) for one in consumers):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        errors.append(forbidden(path, why))
    if allocation is None:
        return errors
    if before.get("allocation") is not None:
        same = allocation == before["allocation"]
        return errors if same else [*errors, _changed(allocation)]
    return errors + _allocation("status.allocation", allocation, request_names(obj.get("spec") or {}))


def _changed(allocation: Spec) -> FieldError:
    return invalid("status.allocation", go_form.of(allocation, "AllocationResult"), formats.IMMUTABLE)


def _consumer(path: str, consumer: Spec) -> Errors:
    return [required(f"{path}.{field}") for field in ("resource", "name", "uid") if not consumer.get(field)]


def _allocation(path: str, allocation: Spec, known: Requests) -> Errors:
    devices = allocation.get("devices") or {}
    results, config = devices.get("results") or (), devices.get("config") or ()
    errors = each(f"{path}.devices.results", results, lambda here, one: _result(here, one, known), _MAX_RESULTS)
    limit = 2 * words.MAX_CONFIGURATIONS
    errors += each(f"{path}.devices.config", config, lambda here, one: _configuration(here, one, known), limit)
    if allocation.get("nodeSelector") is not None:
        errors += validate_node_selector(f"{path}.nodeSelector", allocation["nodeSelector"])
    return errors


def _result(path: str, result: Spec, known: Requests) -> Errors:
    errors = request_reference(f"{path}.request", result.get("request", ""), known)
    errors += words.driver_name(f"{path}.driver", result.get("driver", ""))
    errors += words.pool_name(f"{path}.pool", result.get("pool", ""))
    errors += dns_label(f"{path}.device", result.get("device", ""))
    errors += validate_binding_conditions(path, result)
    errors += words.share_id(f"{path}.shareID", result.get("shareID"))
    return errors + each(f"{path}.tolerations", result.get("tolerations") or (), words.toleration)


def _configuration(path: str, config: Spec, known: Requests) -> Errors:
    source = config.get("source", "")
    errors: Errors = [] if source else [required(f"{path}.source")]
    if source and source not in _SOURCES:
        errors.append(not_supported(f"{path}.source", source, _SOURCES))
    return errors + request_references(path, config, known) + words.configuration(path, config)


class ResourceClaimStatusStrategy(StatusStrategy):
    """What was reported of a device goes with its allocation."""

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        status = obj.get("status") or {}
        gone = _allocated(old) - _allocated(obj) if status.get("devices") else frozenset()
        if not gone:
            return
        kept = [device for device in status["devices"] if _device(device) not in gone]
        rest = {name: value for name, value in status.items() if name != "devices"}
        obj["status"] = {**rest, "devices": kept} if kept else rest


def _allocated(claim: Object) -> frozenset[tuple[str, ...]]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return frozenset(map(_device, (allocation.get("devices") or {}).get("results") or ()))


def _device(holder: Spec) -> tuple[str, ...]:
    return tuple(holder.get(field) or "" for field in ("driver", "pool", "device", "shareID"))


def resource_claim_status() -> StatusStrategy:
    """The `status` endpoint."""
    return ResourceClaimStatusStrategy(ResourceClaimStrategy(), keep_metadata=STATUS_METADATA, validate_status=_validate_status)


class ResourceClaimTemplateStrategy(Strategy):
    """A claim to be made for each pod; never changes."""

    delete_returns_object: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_claim(obj.setdefault("spec", {}).setdefault("spec", {}))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        metadata = spec.get("metadata") or {}
        errors = names.annotation_errors(metadata.get("annotations") or {}, "spec.metadata.annotations")
        errors += labels("spec.metadata.labels", metadata.get("labels"))
        return errors + validate_claim("spec.spec", spec.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = (_shown(one.get("spec") or {}) for one in (obj, old))
        return [] if go_form.equal(new, before) else [invalid("spec", new, formats.IMMUTABLE)]


def _shown(spec: Spec) -> dict[str, Any]:
    """Kubernetes prints the metadata's fields beside the claim's."""
    return {**(spec.get("metadata") or {}), "Spec": go_form.of(spec.get("spec") or {}, "ResourceClaimSpec")}
