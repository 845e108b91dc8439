"""A whole pod spec, in a pod or in a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, forbidden, invalid, not_supported, required, too_long
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, dns_label, labels, qualified_name
from setpoint.registry.pod.validation.affinity import validate_affinity
from setpoint.registry.pod.validation.containers import (
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from setpoint.registry.pod.validation.dns import (
    validate_dns_config,
    validate_dns_policy,
    validate_host_aliases,
    validate_hostnames,
)
from setpoint.registry.pod.validation.env import validate_file_volumes
from setpoint.registry.pod.validation.options import Options, PodScope
from setpoint.registry.pod.validation.ports import host_network_ports
from setpoint.registry.pod.validation.resources import validate_container_resources, validate_pod_resources
from setpoint.registry.pod.validation.security_context import validate_host_users, validate_pod_security
from setpoint.registry.pod.validation.tolerations import validate_tolerations
from setpoint.registry.pod.validation.topology import validate_spread
from setpoint.registry.pod.validation.volumes import validate_volumes
from setpoint.registry.pod.validation.windows import validate_host_process, validate_os

Spec = Mapping[str, Any]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_MAX_HOSTNAME = 64


def validate_pod_spec(path: str, spec: Spec, options: Options) -> Errors:
    grace = spec.get("terminationGracePeriodSeconds")
    errors: Errors = [] if grace is not None else [required(f"{path}.terminationGracePeriodSeconds")]
    volumes, volume_errors = validate_volumes(f"{path}.volumes", spec.get("volumes") or (), options)
    claims = spec.get("resourceClaims") or ()
    errors += volume_errors + _resource_claims(f"{path}.resourceClaims", claims, options)
    scope = PodScope(
        volumes=volumes,
        claim_names=frozenset(claim["name"] for claim in claims if claim.get("name")),
        grace_period=grace,
        restart_policy=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers") is not False,
        options=options,
    )
    errors += _containers(path, spec, scope)
    errors += _placement(path, spec, options)
    errors += _names_and_numbers(path, spec)
    return errors + _runtime(path, spec)


def _containers(path: str, spec: Spec, scope: PodScope) -> Errors:
    containers = spec.get("containers") or ()
    errors = validate_containers(f"{path}.containers", containers, scope)
    errors += validate_init_containers(f"{path}.initContainers", spec.get("initContainers") or (), containers, scope)
    errors += validate_ephemeral_containers(f"{path}.ephemeralContainers", spec, scope)
    return errors + validate_pod_resources(f"{path}.resources", spec, scope.claim_names)


def _placement(path: str, spec: Spec, options: Options) -> Errors:
    policy = spec.get("restartPolicy", "")
    dns_policy = spec.get("dnsPolicy", "")
    errors = host_network_ports(path, spec, is_pod=options.is_pod)
    errors += _choice(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    errors += validate_dns_policy(f"{path}.dnsPolicy", dns_policy)
    errors += labels(f"{path}.nodeSelector", spec.get("nodeSelector"))
    errors += validate_pod_security(f"{path}.securityContext", spec, options)
    errors += validate_affinity(f"{path}.affinity", spec.get("affinity") or {}, options)
    errors += validate_dns_config(f"{path}.dnsConfig", spec.get("dnsConfig"), dns_policy)
    for i, gate in enumerate(spec.get("readinessGates") or ()):
        errors += qualified_name(f"{path}.readinessGates[{i}].conditionType", gate.get("conditionType", ""))
    errors += _scheduling_gates(f"{path}.schedulingGates", spec.get("schedulingGates") or ())
    errors += validate_spread(f"{path}.topologySpreadConstraints", spec.get("topologySpreadConstraints") or (), options)
    errors += validate_host_process(path, spec)
    return errors + validate_host_users(path, spec)


def _choice(path: str, value: str, allowed: tuple[str, ...]) -> Errors:
    if not value:
        return [required(path)]
    return [] if value in allowed else [not_supported(path, value, allowed)]


def _names_and_numbers(path: str, spec: Spec) -> Errors:
    errors = _hostname_override(path, spec)
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            errors += complain(f"{path}.{field}", spec[field], names.dns_subdomain(spec[field]))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= formats.MAX_INT32:
        errors.append(invalid(f"{path}.activeDeadlineSeconds", deadline, names.inclusive_range(1, formats.MAX_INT32)))
    errors += validate_hostnames(path, spec)
    errors += validate_tolerations(f"{path}.tolerations", spec.get("tolerations") or ())
    return errors + validate_host_aliases(f"{path}.hostAliases", spec.get("hostAliases") or ())


def _hostname_override(path: str, spec: Spec) -> Errors:
    value = spec.get("hostnameOverride")
    if value is None:
        return []
    where = f"{path}.hostnameOverride"
    errors: Errors = []
    if spec.get("setHostnameAsFQDN"):
        errors.append(forbidden(where, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(forbidden(where, "may not be specified when hostNetwork is true"))
    if names.length(value) > _MAX_HOSTNAME:
        errors.append(too_long(where, _MAX_HOSTNAME))
    return errors + complain(where, value, names.dns_subdomain(value))


def _runtime(path: str, spec: Spec) -> Errors:
    errors: Errors = []
    if spec.get("priorityClassName"):
        name = spec["priorityClassName"]
        errors += complain(f"{path}.priorityClassName", name, names.dns_subdomain(name))
    if spec.get("runtimeClassName") is not None:
        name = spec["runtimeClassName"]
        errors += complain(f"{path}.runtimeClassName", name, names.dns_subdomain(name))
    if spec.get("preemptionPolicy") is not None:
        errors += _choice(f"{path}.preemptionPolicy", spec["preemptionPolicy"], _PREEMPTION_POLICIES)
    if spec.get("overhead") is not None:
        limits = {"limits": spec["overhead"]}
        errors += validate_container_resources(f"{path}.overhead", limits, frozenset())
    return errors + validate_os(path, spec) + validate_file_volumes(path, spec)


def _scheduling_gates(path: str, gates: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += qualified_name(f"{path}[{i}]", name)
        if name in seen:
            errors.append(duplicate(f"{path}[{i}]", name))
        seen.add(name)
    return errors


def _resource_claims(path: str, claims: Sequence[Mapping[str, Any]], options: Options) -> Errors:
    if options.is_static:
        return [forbidden("", "static pods do not support resource claims") for _ in claims]
    errors: Errors = []
    seen: set[str] = set()
    for i, claim in enumerate(claims):
        errors += _resource_claim(f"{path}[{i}]", claim, seen)
    return errors


def _resource_claim(path: str, claim: Mapping[str, Any], seen: set[str]) -> Errors:
    name = claim.get("name", "")
    errors: Errors = []
    if not name:
        errors.append(required(f"{path}.name"))
    elif name in seen:
        errors.append(duplicate(f"{path}.name", name))
    else:
        errors += dns_label(f"{path}.name", name)
        seen.add(name)
    direct, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
    if direct is not None and template is not None:
        why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        errors.append(invalid(path, go_form.of(claim, "PodResourceClaim"), why))
    if direct is None and template is None:
        why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        errors.append(invalid(path, go_form.of(claim, "PodResourceClaim"), why))
    for field in ("resourceClaimName", "resourceClaimTemplateName"):
        value = claim.get(field)
        if value is not None:
            errors += complain(f"{path}.{field}", value, names.dns_subdomain(value))
    return errors
