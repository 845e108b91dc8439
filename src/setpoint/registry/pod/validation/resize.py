"""The `resize` endpoint: cpu and memory of running containers (KEP-1287), and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import FieldError, forbidden, invalid
from setpoint.registry import go_form
from setpoint.registry.fields import Errors
from setpoint.registry.pod.qos import qos_class
from setpoint.registry.pod.validation.annotations import MIRROR
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.pod import Pod, annotations_of, validate_pod
from setpoint.registry.pod.validation.resources import COMPUTE

Spec = Mapping[str, Any]

_SIDES = ("requests", "limits")


def validate_resize(pod: Pod, old: Pod, options: Options) -> Errors:
    new_spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    errors = validate_pod(pod, options)
    refusal = _unsupported(old, old_spec)
    if refusal:
        return [forbidden("", refusal)]
    old_class = (old.get("status") or {}).get("qosClass") or qos_class(old_spec)
    if qos_class(new_spec) != old_class:
        shown = (pod.get("status") or {}).get("qosClass", "")
        errors.append(invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    if not _node_supports(old.get("status") or {}):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    errors += _pod_level(new_spec.get("resources"), old_spec.get("resources"))
    order = _same_containers(new_spec, old_spec)
    if order:
        return errors + order
    return errors + _removals(new_spec, old_spec) + _only_compute(new_spec, old_spec, clean=not errors)


def _unsupported(old: Pod, old_spec: Spec) -> str:
    if MIRROR in annotations_of(old):
        return "static pods cannot be resized"
    if (old_spec.get("os") or {}).get("name") == "windows":
        return "windows pods cannot be resized"
    return ""


def _pod_level(new: Spec | None, old: Spec | None) -> Errors:
    """The pod's own resources (KEP-5419): like those of a container."""
    if not any((one or {}).get(side) for one in (new, old) for side in _SIDES):
        return []
    if old is not None and new is None:
        return [forbidden("spec.resources", "pod-level resources cannot be removed")]
    errors = [
        forbidden(f"spec.resources.{side}", f"pod-level resource {side} cannot be removed") for side in _removed_sides(new, old)
    ]
    if not go_form.equal(*(go_form.of(one, "ResourceRequirements") for one in (_with_old_compute(new, old), old or {}))):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable at pod-level"))
    return errors


def _same_containers(new_spec: Spec, old_spec: Spec) -> Errors:
    """A resize neither adds nor removes containers, nor puts them into another order."""
    errors: Errors = []
    for field in ("containers", "initContainers"):
        after, before = ([one.get("name", "") for one in spec.get(field) or ()] for spec in (new_spec, old_spec))
        if len(after) != len(before):
            errors.append(forbidden(f"spec.{field}", f"{field} may not be added or removed on resize"))
            continue
        errors += [
            forbidden(f"spec.{field}[{i}].name", f"{field} may not be renamed or reordered on resize")
            for i, (name, former) in enumerate(zip(after, before, strict=True))
            if name != former
        ]
    return errors


def _node_supports(status: Mapping[str, Any]) -> bool:
    """Told by the first running container: nodes that resize report its resources."""
    for container in status.get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return container.get("resources") is not None
    return True


def _removed_sides(new: Spec | None, old: Spec | None) -> list[str]:
    """`requests` or `limits` that no longer name all that they named."""
    return [side for side in _SIDES if set((old or {}).get(side) or ()) - set((new or {}).get(side) or ())]


def _removals(new_spec: Spec, old_spec: Spec) -> Errors:
    return [
        forbidden(f"spec.{field}[{i}].resources.{side}", f"resource {side} cannot be removed")
        for field in ("initContainers", "containers")
        for i, before in enumerate(old_spec.get(field) or ())
        for side in _removed_sides(new_spec[field][i].get("resources"), before.get("resources"))
    ]


def _only_compute(new_spec: Spec, old_spec: Spec, *, clean: bool) -> Errors:
    errors: Errors = []
    munged: dict[str, Any] = dict(new_spec)
    for field in ("containers", "initContainers"):
        if not new_spec.get(field):
            continue
        munged[field] = []
        for i, (container, before) in enumerate(zip(new_spec[field], old_spec[field], strict=True)):
            resources = _with_old_compute(container.get("resources"), before.get("resources"))
            restored = {**container, "resources": resources}
            munged[field].append(restored)
            if not _same_container(restored, before):
                errors.append(_changed(field, i))
            if field == "initContainers" and not _same_container(container, before):
                errors += _restarted(f"spec.{field}[{i}]", container)
    if new_spec.get("resources") is not None:
        munged["resources"] = old_spec.get("resources")
    if clean and not errors and not go_form.equal(go_form.pod_spec(munged), go_form.pod_spec(old_spec)):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return errors


def _same_container(one: Spec, other: Spec) -> bool:
    return go_form.equal(*(go_form.of(value, "Container") for value in (one, other)))


def _changed(field: str, i: int) -> FieldError:
    if field == "containers":
        return forbidden("spec", "only cpu and memory resources are mutable")
    why = "only cpu and memory resources for init or sidecar containers are mutable"
    return forbidden(f"spec.{field}[{i}]", why)


def _restarted(path: str, container: Spec) -> Errors:
    """Init containers that have run cannot be started again."""
    if container.get("restartPolicy") == "Always":
        return []
    why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
    policies = container.get("resizePolicy") or ()
    return [forbidden(path, why) for policy in policies if policy.get("restartPolicy") == "RestartContainer"]


def _with_old_compute(resources: Spec | None, old: Spec | None) -> dict[str, Any]:
    """The resources with their old cpu and memory."""
    resources = resources or {}
    out: dict[str, Any] = {"claims": resources["claims"]} if resources.get("claims") else {}
    for side in _SIDES:
        now = {name: value for name, value in (resources.get(side) or {}).items() if name not in COMPUTE}
        now |= {name: value for name, value in ((old or {}).get(side) or {}).items() if name in COMPUTE}
        if now:
            out[side] = now
    return out
