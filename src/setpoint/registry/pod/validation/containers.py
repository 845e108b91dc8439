"""Containers: ordinary, init and ephemeral."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import (
    duplicate,
    forbidden,
    invalid,
    missing,
    not_supported,
    required,
    too_many,
)
from setpoint.registry.fields import Errors, dns_label
from setpoint.registry.pod.validation.env import validate_env, validate_env_from
from setpoint.registry.pod.validation.mounts import validate_devices, validate_mounts
from setpoint.registry.pod.validation.options import PodScope
from setpoint.registry.pod.validation.ports import host_port_conflicts, validate_ports
from setpoint.registry.pod.validation.probes import validate_lifecycle, validate_probes
from setpoint.registry.pod.validation.resources import COMPUTE, validate_container_resources
from setpoint.registry.pod.validation.security_context import validate_container_security
from setpoint.registry.pod.validation.volume_sources import pull_policy

Container = Mapping[str, Any]

_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RULE_ACTIONS = ("Restart", "RestartAllContainers")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_MAX_RULES, _MAX_EXIT_CODES = 20, 255
_NOT_FOR_EPHEMERAL = "cannot be set for an Ephemeral Container"
# in the order of Go's struct
_EPHEMERAL_FORBIDDEN = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)

# set though what they point to is empty
_POINTERS = {"restartPolicy", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}


def validate_containers(path: str, containers: Sequence[Container], scope: PodScope) -> Errors:
    if not containers:
        return [required(path)]
    errors: Errors = []
    names: set[str] = set()
    for i, container in enumerate(containers):
        here, name = f"{path}[{i}]", container.get("name", "")
        errors += _common(here, container, scope)
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if container.get("lifecycle") is not None:
            errors += validate_lifecycle(f"{here}.lifecycle", container["lifecycle"], scope.grace_period)
        errors += validate_probes(here, container, scope.grace_period)
        errors += _restart_rules(here, container)
    return errors + host_port_conflicts(path, containers)


def validate_init_containers(path: str, containers: Sequence[Container], others: Sequence[Container], scope: PodScope) -> Errors:
    errors: Errors = []
    names = {container.get("name", "") for container in others}
    for i, container in enumerate(containers):
        here, name = f"{path}[{i}]", container.get("name", "")
        errors += _common(here, container, scope)
        errors += _init_restart_rules(here, container)
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        elif name:
            names.add(name)
        # they run one after the other, so only their own ports can collide
        errors += host_port_conflicts(path, [container])
        errors += _init_handlers(here, container, scope)
        errors += _init_resize_policy(f"{here}.resizePolicy", container)
    return errors


def _init_resize_policy(path: str, container: Container) -> Errors:
    """Only sidecars can be restarted in order to be resized."""
    if container.get("restartPolicy") == "Always":
        return []
    why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    return [
        invalid(f"{path}[{i}].restartPolicy", "RestartContainer", why)
        for i, entry in enumerate(container.get("resizePolicy") or ())
        if entry.get("restartPolicy") == "RestartContainer"
    ]


def _init_handlers(path: str, container: Container, scope: PodScope) -> Errors:
    """Only sidecars (restartPolicy Always) live long enough for probes and handlers."""
    if container.get("restartPolicy") == "Always":
        errors: Errors = []
        if container.get("lifecycle") is not None:
            errors += validate_lifecycle(f"{path}.lifecycle", container["lifecycle"], scope.grace_period)
        return errors + validate_probes(path, container, scope.grace_period)
    why = "may not be set for init containers without restartPolicy=Always"
    fields = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
    return [forbidden(f"{path}.{field}", why) for field in fields if container.get(field) is not None]


def validate_ephemeral_containers(path: str, spec: Mapping[str, Any], scope: PodScope) -> Errors:
    errors: Errors = []
    others = {container.get("name", "") for field in ("containers", "initContainers") for container in spec.get(field) or ()}
    names = set(others)
    for i, container in enumerate(spec.get("ephemeralContainers") or ()):
        here, name, target = f"{path}[{i}]", container.get("name", ""), container.get("targetContainerName", "")
        errors += _common(here, container, scope)
        errors += image_blanks(here, container)
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        if target and target not in others:
            errors.append(missing(f"{here}.targetContainerName", target))
        errors += [
            forbidden(f"{here}.{field}", _NOT_FOR_EPHEMERAL) for field in _EPHEMERAL_FORBIDDEN if _is_set(container, field)
        ]
        for j, mount in enumerate(container.get("volumeMounts") or ()):
            fields = ("subPath", "subPathExpr")
            errors += [forbidden(f"{here}.volumeMounts[{j}].{field}", _NOT_FOR_EPHEMERAL) for field in fields if mount.get(field)]
    return errors


def _is_set(container: Container, field: str) -> bool:
    value = container.get(field)
    return value is not None if field in _POINTERS else bool(value)


def image_blanks(path: str, container: Container) -> Errors:
    """Templates may have blanks around an image's name (some use them as a placeholder), pods may not."""
    image = container.get("image", "")
    return [] if image == image.strip() else [invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _common(path: str, container: Container, scope: PodScope) -> Errors:
    name = container.get("name", "")
    errors = dns_label(f"{path}.name", name) if name else [required(f"{path}.name")]
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    errors += _message_policy(f"{path}.terminationMessagePolicy", container.get("terminationMessagePolicy", ""))
    errors += validate_ports(f"{path}.ports", container.get("ports") or ())
    errors += validate_env(f"{path}.env", container.get("env") or ())
    errors += validate_env_from(f"{path}.envFrom", container.get("envFrom") or ())
    errors += validate_mounts(f"{path}.volumeMounts", container, scope.volumes)
    errors += validate_devices(f"{path}.volumeDevices", container, scope.volumes)
    errors += pull_policy(f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""))
    resources = container.get("resources") or {}
    errors += validate_container_resources(f"{path}.resources", resources, scope.claim_names)
    errors += _resize_policy(f"{path}.resizePolicy", container.get("resizePolicy") or (), scope.restart_policy)
    context = container.get("securityContext")
    return errors + validate_container_security(f"{path}.securityContext", context, host_users=scope.host_users)


def _message_policy(path: str, policy: str) -> Errors:
    if not policy:
        return [required(path)]
    return [] if policy in _MESSAGE_POLICIES else [not_supported(path, policy, _MESSAGE_POLICIES)]


def _resize_policy(path: str, policies: Sequence[Mapping[str, Any]], restart_policy: str) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, entry in enumerate(policies):
        resource, policy = entry.get("resourceName", ""), entry.get("restartPolicy", "")
        if resource in seen:
            errors.append(duplicate(f"{path}[{i}]", resource))
        seen.add(resource)
        for value, allowed in ((resource, COMPUTE), (policy, _RESIZE_POLICIES)):
            if not value:
                errors.append(required(path))
            elif value not in allowed:
                errors.append(not_supported(path, value, allowed))
        if restart_policy == "Never" and policy != "NotRequired":
            errors.append(invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    return errors


def _init_restart_rules(path: str, container: Container) -> Errors:
    """Of an init container's rules without a policy, only its lack is told."""
    errors = _restart_rules(path, container)
    return errors[:1] if container.get("restartPolicy") is None else errors


def _restart_rules(path: str, container: Container) -> Errors:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    errors: Errors = []
    if policy is None and rules:
        errors.append(required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used"))
    if policy is not None and policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > _MAX_RULES:
        errors.append(too_many(f"{path}.restartPolicyRules", len(rules), _MAX_RULES))
    for i, rule in enumerate(rules):
        errors += _restart_rule(f"{path}.restartPolicyRules[{i}]", rule)
    return errors


def _restart_rule(path: str, rule: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    action, codes = rule.get("action", ""), rule.get("exitCodes")
    if action not in _RULE_ACTIONS:
        errors.append(not_supported(f"{path}.action", action, _RULE_ACTIONS))
    if codes is None:
        return [*errors, required(f"{path}.exitCodes", "must be specified")]
    operator = codes.get("operator", "")
    if operator not in {"In", "NotIn"}:
        errors.append(not_supported(f"{path}.exitCodes.operator", operator, ("In", "NotIn")))
    if len(codes.get("values") or ()) > _MAX_EXIT_CODES:
        errors.append(too_many(f"{path}.exitCodes.values", len(codes["values"]), _MAX_EXIT_CODES))
    return errors
