"""The `resize` endpoint: cpu and memory of running containers (KEP-1287), and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid
from setpoint.registry import go_form
from setpoint.registry.fields import Errors
from setpoint.registry.pod.qos import qos_class
from setpoint.registry.pod.validation.annotations import MIRROR
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.pod import Pod, annotations_of, validate_pod
from setpoint.registry.pod.validation.resources import COMPUTE

Spec = Mapping[str, Any]


def validate_resize(pod: Pod, old: Pod, options: Options) -> Errors:
    new_spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    errors = validate_pod(pod, options)
    refusal = _unsupported(old, new_spec, old_spec)
    if refusal:
        return [forbidden("", refusal)]
    old_class = (old.get("status") or {}).get("qosClass") or qos_class(old_spec)
    if qos_class(new_spec) != old_class:
        shown = (pod.get("status") or {}).get("qosClass", "")
        errors.append(invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    if not _node_supports(old.get("status") or {}):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    errors += _removals(new_spec, old_spec)
    errors += _only_compute(new_spec, old_spec)
    return errors


def _unsupported(old: Pod, new_spec: Spec, old_spec: Spec) -> str:
    if any((spec.get("resources") or {}).get(side) for spec in (old_spec, new_spec) for side in ("requests", "limits")):
        return "pods with pod-level resources cannot be resized"
    if MIRROR in annotations_of(old):
        return "static pods cannot be resized"
    if (old_spec.get("os") or {}).get("name") == "windows":
        return "windows pods cannot be resized"
    return ""


def _node_supports(status: Mapping[str, Any]) -> bool:
    """Told by the first running container: nodes that resize report its resources."""
    for container in status.get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return container.get("resources") is not None
    return True


def _is_sidecar(container: Spec) -> bool:
    return container.get("restartPolicy") == "Always"


def _removals(new_spec: Spec, old_spec: Spec) -> Errors:
    errors: Errors = []
    for field in ("initContainers", "containers"):
        for i, before in enumerate(old_spec.get(field) or ()):
            if field == "containers" or _is_sidecar(before):
                errors += _container(f"spec.{field}[{i}].resources", new_spec[field][i], before)
    return errors


def _container(path: str, new: Spec, old: Spec) -> Errors:
    after, before = new.get("resources") or {}, old.get("resources") or {}
    errors: Errors = []
    for side in ("requests", "limits"):
        if set(before.get(side) or ()) - set(after.get(side) or ()):
            errors.append(forbidden(f"{path}.{side}", f"resource {side} cannot be removed"))
    return errors


def _only_compute(new_spec: Spec, old_spec: Spec) -> Errors:
    errors: Errors = []
    munged: dict[str, Any] = dict(new_spec)
    for field in ("containers", "initContainers"):
        if not new_spec.get(field):
            continue
        munged[field] = []
        for container, before in zip(new_spec[field], old_spec[field], strict=True):
            resizable = field == "containers" or _is_sidecar(container)
            restored = _restored(container, before) if resizable else container
            munged[field].append(restored)
            if not go_form.equal(*(go_form.of(value, "Container") for value in (restored, before))):
                errors.append(forbidden("spec", _message(field, resizable=resizable)))
    if not errors and not go_form.equal(go_form.pod_spec(munged), go_form.pod_spec(old_spec)):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return errors


def _message(field: str, *, resizable: bool) -> str:
    if field == "containers":
        return "only cpu and memory resources are mutable"
    if resizable:
        return "only cpu and memory resources for sidecar containers are mutable"
    return "resources for non-sidecar init containers are immutable"


def _restored(container: Spec, old: Spec) -> dict[str, Any]:
    """The container with its old cpu and memory."""
    before = old.get("resources") or {}
    resources: dict[str, Any] = {}
    for side in ("limits", "requests"):
        now = {name: value for name, value in ((container.get("resources") or {}).get(side) or {}).items() if name not in COMPUTE}
        now |= {name: value for name, value in (before.get(side) or {}).items() if name in COMPUTE}
        if now:
            resources[side] = now
    return {**container, "resources": resources, "resizePolicy": old.get("resizePolicy")}
