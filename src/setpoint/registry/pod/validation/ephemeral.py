"""The `ephemeralcontainers` endpoint: containers are added to a running pod, never changed or removed."""

from __future__ import annotations

from setpoint.api.machinery.status import forbidden
from setpoint.registry import go_form
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.annotations import MIRROR
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.pod import Pod, annotations_of, validate_pod
from setpoint.registry.pod.validation.update import annotation_errors


def validate_ephemeral_update(pod: Pod, old: Pod, options: Options) -> Errors:
    if MIRROR in annotations_of(old):
        return [forbidden("", "static pods do not support ephemeral containers")]
    errors = validate_pod(pod, options) + annotation_errors(pod, old, options)
    path = "spec.ephemeralContainers"
    new = {container.get("name", ""): container for container in (pod.get("spec") or {}).get("ephemeralContainers") or ()}
    for before in (old.get("spec") or {}).get("ephemeralContainers") or ():
        name = before.get("name", "")
        if name not in new:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
            continue
        one, other = (go_form.of(container, "EphemeralContainer") for container in (before, new[name]))
        if not go_form.equal(one, other):
            why = f'existing ephemeral containers "{name}" may not be changed\n{go_form.diff(one, other)}'
            errors.append(forbidden(path, why))
    return errors
