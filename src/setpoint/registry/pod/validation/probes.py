"""Probes and life-cycle handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry.fields import Errors, complain, nonnegatives, port_or_name

_SCHEMES = ("HTTP", "HTTPS")
_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_LIFECYCLE_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")


def validate_probes(path: str, container: Mapping[str, Any], grace_period: int | None) -> Errors:
    """Liveness, readiness and startup, in this order."""
    errors: Errors = []
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            errors += _probe(f"{path}.{name}", probe, grace_period)
            errors += _readiness(f"{path}.{name}", probe) if name == "readinessProbe" else _once(f"{path}.{name}", probe)
    return errors


def _once(path: str, probe: Mapping[str, Any]) -> Errors:
    threshold = probe.get("successThreshold", 0)
    return [] if threshold == 1 else [invalid(f"{path}.successThreshold", threshold, "must be 1")]


def _readiness(path: str, probe: Mapping[str, Any]) -> Errors:
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is None:
        return []
    return [invalid(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")]


def _probe(path: str, probe: Mapping[str, Any], grace_period: int | None) -> Errors:
    errors = _handler(path, probe, _PROBE_HANDLERS, grace_period)
    errors += nonnegatives(
        path, probe, "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"
    )
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    return errors


def validate_lifecycle(path: str, lifecycle: Mapping[str, Any], grace_period: int | None) -> Errors:
    errors: Errors = []
    for name in ("postStart", "preStop"):
        handler = lifecycle.get(name)
        if handler is not None:
            errors += _handler(f"{path}.{name}", handler, _LIFECYCLE_HANDLERS, grace_period)
    return errors


def _handler(path: str, handler: Mapping[str, Any], kinds: tuple[str, ...], grace_period: int | None) -> Errors:
    """Exactly one kind of action; the first is checked, each further one is a complaint."""
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        return [required(path, "must specify a handler type")]
    errors = _action(f"{path}.{given[0]}", given[0], handler[given[0]], grace_period)
    return errors + [forbidden(f"{path}.{kind}", "may not specify more than 1 handler type") for kind in given[1:]]


def _action(path: str, kind: str, action: Mapping[str, Any], grace_period: int | None) -> Errors:
    if kind == "exec":
        return [] if action.get("command") else [required(f"{path}.command")]
    if kind == "httpGet":
        return _http_get(path, action)
    if kind == "sleep":
        return _sleep(path, action.get("seconds", 0), grace_period)
    return port_or_name(f"{path}.port", action.get("port", 0))


def _http_get(path: str, action: Mapping[str, Any]) -> Errors:
    errors: Errors = [] if action.get("path") else [required(f"{path}.path")]
    errors += port_or_name(f"{path}.port", action.get("port", 0))
    scheme = action.get("scheme", "")
    if scheme not in _SCHEMES:
        errors.append(not_supported(f"{path}.scheme", scheme, _SCHEMES))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        errors += complain(f"{path}.httpHeaders", name, names.http_header_name(name))
    return errors


def _sleep(path: str, seconds: int, grace_period: int | None) -> Errors:
    if grace_period is None or 0 <= seconds <= grace_period:
        return []
    return [invalid(path, seconds, f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})")]
