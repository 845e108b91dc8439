"""Strategies of pods: the main endpoint, `status`, `ephemeralcontainers` and `resize`.

Source: `pkg/registry/core/pod/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.settled import is_shared
from setpoint.api.machinery.status import FieldError
from setpoint.kit.clock import rfc3339
from setpoint.registry.address_warnings import ip_warnings
from setpoint.registry.pod.app_armor import fields_from_annotations
from setpoint.registry.pod.defaults import default_around_spec, default_pod
from setpoint.registry.pod.known_specs import KnownSpecs
from setpoint.registry.pod.label_keys import merge_label_keys
from setpoint.registry.pod.qos import qos_class
from setpoint.registry.pod.ratchet import options_for
from setpoint.registry.pod.validation.ephemeral import validate_ephemeral_update
from setpoint.registry.pod.validation.pod import validate_new_pod
from setpoint.registry.pod.validation.resize import validate_resize
from setpoint.registry.pod.validation.status import validate_pod_status
from setpoint.registry.pod.validation.update import validate_pod_update
from setpoint.registry.pod.warnings import name_warning, pod_warnings
from setpoint.registry.spec_status import keep_field
from setpoint.registry.strategy import Context, Object, Strategy

_GATED = "Scheduling is blocked due to non-empty scheduling gates"
_OVER = ("Failed", "Succeeded")
_GOOD, _UNREMARKABLE = KnownSpecs(), KnownSpecs()


class PodStrategy(Strategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    reset_fields = (("status",),)
    selectable_fields: ClassVar[frozenset[str]] = frozenset(
        {
            "spec.nodeName",
            "spec.host",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        }
    )

    def default(self, obj: Object) -> None:
        default_pod(obj)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        spec = obj["spec"]
        status: Object = {"phase": "Pending", "qosClass": qos_class(spec)}
        obj["status"] = status
        if spec.get("schedulingGates"):
            status["conditions"] = [_gated_condition(context.now)]
        merge_label_keys(obj)
        context.warnings += fields_from_annotations(obj)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        text = _GOOD.text_of(obj)
        if text in _GOOD:
            return []
        errors = validate_new_pod(obj, options_for(obj, None))
        if not errors:
            _GOOD.add(text)
        return errors

    def stands_for(self, obj: Object) -> bytes:
        return _GOOD.text_of(obj)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        warnings, text = name_warning(obj["metadata"].get("name", "")), _UNREMARKABLE.text_of(obj)
        if text in _UNREMARKABLE:
            return warnings
        more = pod_warnings(obj)
        if not more:
            _UNREMARKABLE.add(text)
        return warnings + more

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "status")

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return validate_pod_update(obj, old, options_for(obj, old))

    def fields(self, obj: Object) -> Mapping[str, str]:
        return pod_fields(obj)

    def grace_period(self, context: Context, obj: Object, requested: int | None) -> int | None:
        """A pod that no node runs, or that has ended, needs no grace."""
        spec = obj.get("spec") or {}
        if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in _OVER:
            return 0
        grace = spec.get("terminationGracePeriodSeconds", 30) if requested is None else requested
        return 1 if grace < 0 else grace


def pod_fields(pod: Object) -> dict[str, str]:
    """Values of the selectable fields. Selectors may name `status.podIPs`, which never has a value in Kubernetes either."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    addresses = status.get("podIPs") or ()
    address = addresses[0].get("ip", "") if addresses else ""
    node = spec.get("nodeName", "")
    return {
        "spec.nodeName": node,
        "spec.host": node,
        "spec.restartPolicy": spec.get("restartPolicy", ""),
        "spec.schedulerName": spec.get("schedulerName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status.get("phase", ""),
        "status.podIP": address,
        "status.podIPs": "",
        "status.nominatedNodeName": status.get("nominatedNodeName", ""),
    }


def _gated_condition(now: float) -> dict[str, Any]:
    return {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": _GATED,
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(now),
    }


class _PodPart(Strategy):
    """What the smaller endpoints share."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_pod(obj)

    def default_beside(self, obj: Object, settled: Mapping[str, Any]) -> None:
        if is_shared(obj.get("spec"), "spec", settled):
            default_around_spec(obj)
        else:
            default_pod(obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return pod_fields(obj)


class PodStatusStrategy(_PodPart):
    """Status; metadata but for owners may change with it, for historical reasons."""

    validates_whole_on_update: ClassVar[bool] = False
    keeps_stored_form: ClassVar[bool] = True
    reset_fields = (("spec",), ("metadata", "deletionTimestamp"), ("metadata", "ownerReferences"))

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "spec")
        keep_field(obj["metadata"], old["metadata"], "ownerReferences")
        status = obj.setdefault("status", {})
        if not status.get("qosClass"):
            keep_field(status, old.get("status") or {}, "qosClass")
        keep_observed_generations(status, old.get("status") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return validate_pod_status(obj, old, options_for(obj, old))

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        status = obj.get("status") or {}
        return [
            warning
            for field in ("podIPs", "hostIPs")
            for i, entry in enumerate(status.get(field) or ())
            for warning in ip_warnings(f"status.{field}[{i}].ip", entry.get("ip", ""))
        ]


def keep_observed_generations(status: Object, old: Object) -> None:
    """Clients that do not know `observedGeneration` leave it out; that must not clear it (KEP-5067)."""
    if not status.get("observedGeneration") and old.get("observedGeneration"):
        status["observedGeneration"] = old["observedGeneration"]
    before: dict[str, list[int]] = {}
    for condition in old.get("conditions") or ():
        before.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration") or 0)
    for i, condition in enumerate(status.get("conditions") or ()):
        known = before.get(condition.get("type", ""))
        generation = known.pop(0) if known else 0
        if generation and not condition.get("observedGeneration"):
            status["conditions"] = list(status["conditions"])
            status["conditions"][i] = {**condition, "observedGeneration": generation}


class PodEphemeralContainersStrategy(_PodPart):
    """Only the list of ephemeral containers."""

    reset_fields = (("status",),)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        containers = (obj.get("spec") or {}).get("ephemeralContainers")
        _start_from(obj, old)
        obj["spec"] = dict(old.get("spec") or {})
        obj["spec"].pop("ephemeralContainers", None)
        if containers:
            obj["spec"]["ephemeralContainers"] = containers

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return validate_ephemeral_update(obj, old, options_for(obj, old))


class PodResizeStrategy(_PodPart):
    """Resources and resize policies of containers, and the pod's own resources."""

    reset_fields = (("status",),)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        asked, before = obj.get("spec") or {}, old.get("spec") or {}
        lists = {field: (asked.get(field) or [], before.get(field) or []) for field in ("containers", "initContainers")}
        if any(len(new) != len(former) for new, former in lists.values()):
            return  # validation refuses it
        _start_from(obj, old)
        obj["spec"] = spec = dict(before)
        keep_field(spec, asked, "resources")
        for field, (new, former) in lists.items():
            if former:
                spec[field] = _resized(new, former)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return validate_resize(obj, old, options_for(obj, old))


def _start_from(obj: Object, old: Object) -> None:
    """Everything as it was; of metadata only what the generic store needs is taken from the request.

    Metadata is changed in place: the generic store holds on to it.
    """
    metadata = obj["metadata"]
    kept = {name: metadata[name] for name in ("resourceVersion", "managedFields", "generation") if name in metadata}
    if metadata is not old["metadata"]:
        metadata.clear()
        metadata.update({**old["metadata"], **kept})
    keep_field(obj, old, "status")


def _resized(new: list[Object], former: list[Object]) -> list[Object]:
    """The former containers with the new ones' resources; the new ones, for validation to refuse, if they are others."""
    if [one.get("name") for one in new] != [one.get("name") for one in former]:
        return new
    out = [dict(container) for container in former]
    for container, wanted in zip(out, new, strict=True):
        for field in ("resources", "resizePolicy"):
            keep_field(container, wanted, field)
    return out
