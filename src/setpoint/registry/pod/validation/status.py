"""Writes to a pod's status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, internal, invalid
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, immutable, qualified_name
from setpoint.registry.pod.validation.claim_statuses import validate_claim_statuses
from setpoint.registry.pod.validation.container_status import validate_container_statuses
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.pod import Pod
from setpoint.registry.pod.validation.restarts import restarts_all, should_restart
from setpoint.registry.pod.validation.update import annotation_errors

Status = Mapping[str, Any]
Statuses = Sequence[Mapping[str, Any]]

_SYSTEM_CONDITIONS = {"PodScheduled", "Ready", "Initialized"}
_RESTARTED = (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"))
_ENDED = "may not be transitioned to non-terminated state"


def validate_pod_status(pod: Pod, old: Pod, options: Options) -> Errors:
    new_status, old_status, spec = pod.get("status") or {}, old.get("status") or {}, old.get("spec") or {}
    errors = annotation_errors(pod, old, options)
    for i, condition in enumerate(new_status.get("conditions") or ()):
        errors += nonnegative_generation(f"status.conditions[{i}]", condition)
        if condition.get("type", "") not in _SYSTEM_CONDITIONS:
            errors += qualified_name(f"status.conditions[{i}].Type", condition.get("type", ""))
    nominated = new_status.get("nominatedNodeName", "")
    if nominated and nominated != old_status.get("nominatedNodeName", ""):
        errors += complain("status.nominatedNodeName", nominated, names.dns_subdomain(nominated))
        if spec.get("nodeName"):
            errors.append(forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node"))
    errors += nonnegative_generation("status", new_status)
    errors += immutable("status.qosClass", new_status.get("qosClass", ""), old_status.get("qosClass", ""))
    errors += _transitions(new_status, old_status, spec)
    errors += validate_claim_statuses(new_status, spec)
    errors += _addresses("status.podIPs", new_status.get("podIPs") or [], old_status.get("podIPs") or ())
    errors += _host_addresses(new_status, old_status.get("hostIPs") or ())
    return errors + validate_container_statuses(new_status, pod.get("spec") or {})


def nonnegative_generation(path: str, obj: Mapping[str, Any]) -> Errors:
    value = obj.get("observedGeneration")
    return (
        [invalid(f"{path}.observedGeneration", value, "must be a non-negative integer")]
        if value is not None and value < 0
        else []
    )


def _transitions(new: Status, old: Status, spec: Mapping[str, Any]) -> Errors:
    """A container that has ended for good stays ended; ephemeral containers are never restarted."""
    errors: Errors = []
    # a rule to restart all containers may bring each of them back
    for kind, field in () if restarts_all(spec) else _RESTARTED:
        own = {container.get("name", ""): container for container in spec.get(field) or ()}
        for i in _revived(new.get(kind) or (), old.get(kind) or ()):
            before = old[kind][i]
            if not should_restart(own.get(before.get("name", ""), {}), spec, before["state"]["terminated"].get("exitCode", 0)):
                errors.append(forbidden(f"status.{kind}[{i}].state", _ENDED))
    kind = "ephemeralContainerStatuses"
    revived = _revived(new.get(kind) or (), old.get(kind) or ())
    return errors + [forbidden(f"status.{kind}[{i}].state", _ENDED) for i in revived]


def _revived(new: Statuses, old: Statuses) -> Iterator[int]:
    """Indexes of containers that had ended, and that are now said to be otherwise."""
    for i, before in enumerate(old):
        if (before.get("state") or {}).get("terminated") is None:
            continue
        for after in new:
            if after.get("name", "") == before.get("name", "") and (after.get("state") or {}).get("terminated") is None:
                yield i


def _addresses(path: str, entries: Statuses, old: Statuses) -> Errors:
    """At the most one address of each family; those that are there may stay, whatever they look like."""
    values, known = [entry.get("ip", "") for entry in entries], {entry.get("ip", "") for entry in old}
    errors: Errors = []
    for i, value in enumerate(values):
        errors += complain(f"{path}[{i}]", value, formats.ip(value)) if value not in known else []
    if len(values) < 2:
        return errors
    return errors + _families(path, values, entries)


def _families(path: str, values: Sequence[str], entries: Statuses) -> Errors:
    parsed = [formats.parse_ip(value) for value in values]
    errors: Errors = []
    bad = next((i for i, address in enumerate(parsed) if address is None), None)
    if bad is not None:
        errors.append(internal(path, f"failed to check for dual stack with error:invalid IP[{bad}]: {values[bad]}"))
    versions = {address.version for address in parsed if address is not None}
    if bad is not None or len(versions) != 2 or len(values) > 2:
        shown = go_form.each(entries, "IP")
        errors.append(invalid(path, shown, "may specify no more than one IP for each IP family"))
    return errors


def _host_addresses(status: Status, old: Statuses) -> Errors:
    path, entries = "status.hostIPs", status.get("hostIPs") or []
    if not entries:
        return []
    errors: Errors = []
    first = entries[0].get("ip", "")
    if status.get("hostIP", "") != first:
        errors.append(invalid(f"{path}[0].ip", first, "must be equal to `hostIP`"))
    return errors + _addresses(path, entries, old)
