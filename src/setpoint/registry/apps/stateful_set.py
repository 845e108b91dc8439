"""StatefulSets.

Source: `pkg/apis/apps/v1/defaults.go`, `pkg/apis/apps/validation`, `pkg/registry/apps/statefulset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, dns_label, nonnegative, nonnegatives
from setpoint.registry.pod.defaults import default_claim_spec, default_template
from setpoint.registry.pod.warnings import claim_warnings, template_warnings
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import (
    always_restarted,
    compiled,
    not_above,
    not_decremented,
    validate_pods,
    validate_selector,
    without_deadline,
)

_RETENTIONS = ("Retain", "Delete")
_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_COUNTS = ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")


class StatefulSetStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    #: known, and empty for every set: the label was taken over from Job by mistake
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"status.successful"})

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
        _default_update(spec.setdefault("updateStrategy", {}))
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        for field in ("whenDeleted", "whenScaled"):
            retention[field] = retention.get(field) or "Retain"
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        default_template(spec.setdefault("template", {}))
        for claim in spec.get("volumeClaimTemplates") or ():
            claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
            default_claim_spec(claim.setdefault("spec", {}))
            status = claim.setdefault("status", {})
            status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _drop_disabled(obj, None)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        _drop_disabled(obj, old)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
        errors = _validate_spec(new_spec, old_spec)
        fixed = [{name: value for name, value in spec.items() if name not in _MUTABLE} for spec in (new_spec, old_spec)]
        if fixed[0] != fixed[1]:
            listed = ", ".join(f"'{name}'" for name in _MUTABLE[:-1])
            why = f"updates to statefulset spec for fields other than {listed} and '{_MUTABLE[-1]}' are forbidden"
            errors.append(forbidden("spec", why))
        return errors

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """The name begins those of its pods, which are host names."""
        return names.dns_label(name, prefix=prefix)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return template_warnings("spec.template", obj["spec"]["template"]) + _warnings(obj["spec"], "")

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        """Those of claims have another path than on create, as in Kubernetes."""
        changed = obj["spec"] != old.get("spec")
        return (template_warnings("spec.template", obj["spec"]["template"]) if changed else []) + _warnings(obj["spec"], ".Spec")


def _warnings(spec: Mapping[str, Any], below: str) -> list[str]:
    out = []
    for i, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        out += claim_warnings(f"spec.volumeClaimTemplates[{i}]{below}", claim.get("spec") or {})
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        out.append("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
    return out


def _default_update(strategy: Object) -> None:
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"].setdefault("partition", 0)


def _drop_disabled(obj: Object, old: Object | None) -> None:
    """`maxUnavailable` belongs to a feature that is off (MaxUnavailableStatefulSet)."""
    rolling = (obj["spec"].get("updateStrategy") or {}).get("rollingUpdate")
    before = (((old or {}).get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    if rolling and "maxUnavailable" not in before:
        rolling.pop("maxUnavailable", None)


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    policy = spec.get("podManagementPolicy", "")
    errors: Errors = []
    if not policy:
        errors.append(required("spec.podManagementPolicy"))
    elif policy not in {"OrderedReady", "Parallel"}:
        errors.append(invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    errors += _update("spec.updateStrategy", spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field) not in _RETENTIONS:
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            errors.append(not_supported(path, retention.get(field, ""), _RETENTIONS))
    errors += nonnegatives("spec", spec, "replicas", "minReadySeconds")
    errors += nonnegative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    if spec.get("serviceName") and (old is None or old.get("serviceName") != spec["serviceName"]):
        errors += dns_label("spec.serviceName", spec["serviceName"])
    selector = spec.get("selector")
    errors += validate_selector("spec.selector", selector, "statefulset")
    if compiled(selector) is None:
        errors.append(invalid("spec.selector", go_form.label_selector(selector), ""))
        pod_spec = (spec.get("template") or {}).get("spec") or {}
        errors += always_restarted("spec.template.spec", pod_spec)
        return errors + without_deadline("spec.template.spec", pod_spec, "StatefulSet")
    return errors + validate_pods("spec", _with_claims(spec), None if old is None else _with_claims(old), "StatefulSet")


def _with_claims(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the volumes that pods get from claim templates: containers may mount them."""
    claims = spec.get("volumeClaimTemplates") or ()
    if not claims:
        return spec
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    volumes = list(pod.get("volumes") or ())
    taken = {volume.get("name") for volume in volumes}
    names = [name for claim in claims if (name := (claim.get("metadata") or {}).get("name")) and name not in taken]
    volumes += [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**spec, "template": {**template, "spec": {**pod, "volumes": volumes}}}


def _update(path: str, strategy: Mapping[str, Any]) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        return [required(path)]
    if kind == "OnDelete":
        if rolling is None:
            return []
        shown = go_form.of(rolling, "RollingUpdateStatefulSetStrategy")
        return [invalid(f"{path}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")]
    if kind != "RollingUpdate":
        shown = go_form.of(strategy, "StatefulSetUpdateStrategy")
        return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
    return nonnegative(f"{path}.rollingUpdate.partition", (rolling or {}).get("partition"))


def _validate_status(obj: Object, old: Object) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    errors = nonnegatives("status", status, *_COUNTS, "observedGeneration", "collisionCount")
    errors += not_above("status", status, _COUNTS[1:], "replicas")
    available, ready = status.get("availableReplicas") or 0, status.get("readyReplicas") or 0
    if available > ready:
        errors.append(invalid("status.availableReplicas", available, "cannot be greater than status.readyReplicas"))
    return errors + not_decremented("status.collisionCount", status.get("collisionCount"), before.get("collisionCount"))


def stateful_set_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(StatefulSetStrategy(), validate_status=_validate_status)
