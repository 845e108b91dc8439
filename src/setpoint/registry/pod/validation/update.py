"""What may change in a pod through its main endpoint: images, deadlines, additions to tolerations, fewer gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.annotations import validate_annotation_changes, validate_annotations
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.pod import Pod, annotations_of, validate_pod
from setpoint.registry.pod.validation.tolerations import validate_tolerations

Spec = Mapping[str, Any]

_MUTABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to"
    " existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod_update(pod: Pod, old: Pod, options: Options) -> Errors:
    errors = validate_pod(pod, options)
    errors += annotation_errors(pod, old, options)
    new_spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    for field in ("containers", "initContainers"):
        more, stop = _images(f"spec.{field}", new_spec.get(field) or (), old_spec.get(field) or ())
        errors += more
        if stop:
            return errors
    more, stop = _deadline(new_spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    errors += more
    if stop:
        return errors
    errors += _tolerations(new_spec.get("tolerations") or (), old_spec.get("tolerations") or ())
    errors += _gates(new_spec.get("schedulingGates") or (), old_spec.get("schedulingGates") or ())
    if new_spec == old_spec:
        return errors
    return errors + _rest_is_unchanged(new_spec, old_spec)


def annotation_errors(pod: Pod, old: Pod, options: Options) -> Errors:
    """Fixed annotations, and once more the rules of the meaningful ones (Kubernetes checks them twice; texts are merged)."""
    path, new = "metadata.annotations", annotations_of(pod)
    errors = validate_annotation_changes(path, new, annotations_of(old))
    return errors + validate_annotations(path, new, pod.get("spec") or {}, options)


def _images(path: str, new: Sequence[Spec], old: Sequence[Spec]) -> tuple[Errors, bool]:
    if len(new) != len(old):
        return [forbidden(path, "pod updates may not add or remove containers")], True
    errors: Errors = []
    for i, container in enumerate(new):
        image = container.get("image", "")
        if not image:
            errors.append(required(f"{path}[{i}].image"))
        if image.strip() != image:
            errors.append(invalid(f"{path}[{i}].image", image, "must not have leading or trailing whitespace"))
    return errors, False


def _deadline(new: int | None, old: int | None) -> tuple[Errors, bool]:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        return ([] if old is None else [invalid(path, None, "must not update from a positive integer to nil value")]), False
    if not 0 <= new <= formats.MAX_INT32:
        return [invalid(path, new, names.inclusive_range(0, formats.MAX_INT32))], True
    if old is not None and old < new:
        return [invalid(path, new, "must be less than or equal to previous value")], True
    return [], False


def _tolerations(new: Sequence[Spec], old: Sequence[Spec]) -> Errors:
    kept = [_without_seconds(toleration) for toleration in new]
    if any(_without_seconds(toleration) not in kept for toleration in old):
        return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")]
    return validate_tolerations("spec.tolerations", new)


def _without_seconds(toleration: Spec) -> dict[str, Any]:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value != ""}


def _gates(new: Sequence[Spec], old: Sequence[Spec]) -> Errors:
    before = {gate.get("name") for gate in old}
    added = {gate.get("name", ""): i for i, gate in enumerate(new) if gate.get("name") not in before}
    return [
        forbidden(f"spec.schedulingGates[{i}].name", f"only deletion is allowed, but found new scheduling gate '{name}'")
        for name, i in added.items()
    ]


def _rest_is_unchanged(new: Spec, old: Spec) -> Errors:
    """With all that may change set back, the specs must be the same."""
    munged: dict[str, Any] = dict(new)
    for field in ("containers", "initContainers"):
        if new.get(field):
            pairs = zip(new[field], old[field], strict=True)
            munged[field] = [{**container, "image": before.get("image", "")} for container, before in pairs]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _restore(munged, old, field)
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        _restore(munged, old, "terminationGracePeriodSeconds")
    errors: Errors = []
    if old.get("schedulingGates"):
        errors += _gated_changes(munged, old)
    before, after = go_form.pod_spec(old), go_form.pod_spec(munged)
    if not go_form.equal(before, after):
        why = f"pod updates may not change fields other than {_MUTABLE}\n{go_form.diff(before, after)}"
        errors.append(forbidden("spec", why))
    return errors


def _restore(munged: dict[str, Any], old: Spec, field: str) -> None:
    if field in old:
        munged[field] = old[field]
    else:
        munged.pop(field, None)


def _gated_changes(munged: dict[str, Any], old: Spec) -> Errors:
    """While gates hold a pod back its node selector and affinity may be narrowed (KEP-3838)."""
    errors: Errors = []
    before, after = old.get("nodeSelector") or {}, munged.get("nodeSelector") or {}
    if before != after:
        if any(after.get(key) != value for key, value in before.items()):
            why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            errors.append(invalid("spec.nodeSelector", munged.get("nodeSelector"), why))
        _restore(munged, old, "nodeSelector")
    old_node = (old.get("affinity") or {}).get("nodeAffinity")
    new_node = (munged.get("affinity") or {}).get("nodeAffinity")
    if old_node != new_node:
        errors += _node_affinity_change("spec.affinity.nodeAffinity", new_node or {}, old_node or {})
        affinity = {key: value for key, value in (munged.get("affinity") or {}).items() if key != "nodeAffinity"}
        if old_node is not None:
            affinity["nodeAffinity"] = old_node
        munged["affinity"] = affinity
        if not affinity and "affinity" not in old:
            del munged["affinity"]
    return errors


def _node_affinity_change(path: str, new: Spec, old: Spec) -> Errors:
    """Required terms may only be added to, each in its place; preferences are free."""
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    if not old.get(field):
        return []
    where = f"{path}.{field}"
    before = old[field].get("nodeSelectorTerms") or []
    given = (new.get(field) or {}).get("nodeSelectorTerms")
    after = given or []
    if len(before) != len(after):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(f"{where}.nodeSelectorTerms", go_form.each(given, "NodeSelectorTerm"), why)]
    why = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{where}.nodeSelectorTerms[{i}]", go_form.of(after[i], "NodeSelectorTerm"), why)
        for i, term in enumerate(before)
        if not _is_extended(after[i], term)
    ]


def _is_extended(new: Spec, old: Spec) -> bool:
    """Old requirements come first and unchanged. An empty term matches nothing and must stay empty."""
    if not old.get("matchExpressions") and not old.get("matchFields") and new != old:
        return False
    return all(
        (new.get(field) or [])[: len(old.get(field) or [])] == (old.get(field) or [])
        for field in ("matchExpressions", "matchFields")
    )
