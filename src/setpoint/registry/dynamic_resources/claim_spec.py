"""What a claim asks for: requests, constraints between them, configuration.

Source: `pkg/apis/resource/validation`, `pkg/apis/resource/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.api.machinery.status import invalid, not_supported, required
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.collections import each, each_once
from setpoint.registry.fields import Errors, dns_label, required_subdomain
from setpoint.registry.strategy import Object

_MAX_REQUESTS = 32
_MAX_CONSTRAINTS = 32
_MAX_ALTERNATIVES = 8
_ONE_FORM = "exactly one of `exactly` or `firstAvailable` is required"
_NO_SUCH_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_NO_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'  # for none, too

Spec = Mapping[str, Any]
#: request → its alternatives
Requests = Mapping[str, frozenset[str]]


def default_claim(spec: Object) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        for wanted in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if wanted is not None:
                _default_request(wanted)


def _default_request(wanted: Object) -> None:
    wanted["allocationMode"] = wanted.get("allocationMode") or "ExactCount"
    if wanted["allocationMode"] == "ExactCount" and not wanted.get("count"):
        wanted["count"] = 1
    for entry in wanted.get("tolerations") or ():
        entry["operator"] = entry.get("operator") or "Equal"


def validate_claim(path: str, spec: Spec) -> Errors:
    devices, path = spec.get("devices") or {}, f"{path}.devices"
    known = request_names(spec)
    errors = each_once(f"{path}.requests", devices.get("requests") or (), _request, _name, _MAX_REQUESTS)
    errors += each(
        f"{path}.constraints",
        devices.get("constraints") or (),
        lambda here, constraint: _constraint(here, constraint, known),
        _MAX_CONSTRAINTS,
    )
    return errors + each(
        f"{path}.config",
        devices.get("config") or (),
        lambda here, entry: request_references(here, entry, known) + words.configuration(here, entry),
        words.MAX_CONFIGURATIONS,
    )


def _name(item: Spec) -> str:
    name: str = item.get("name", "")
    return name


def request_names(spec: Spec) -> Requests:
    def pairs() -> Iterator[tuple[str, frozenset[str]]]:
        for request in (spec.get("devices") or {}).get("requests") or ():
            yield _name(request), frozenset(map(_name, request.get("firstAvailable") or ()))

    return dict(pairs())


def _request(path: str, request: Spec) -> Errors:
    errors = dns_label(f"{path}.name", _name(request))
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or ()
    if exactly is None and not alternatives:
        errors.append(required(path, _ONE_FORM))
    elif exactly is not None and alternatives:
        errors.append(invalid(path, None, f"{_ONE_FORM}, but multiple fields are set"))
    elif exactly is not None:
        errors += _wanted(f"{path}.exactly", exactly)
    else:
        errors += each_once(f"{path}.firstAvailable", alternatives, _alternative, _name, _MAX_ALTERNATIVES)
    return errors


def _alternative(path: str, wanted: Spec) -> Errors:
    return dns_label(f"{path}.name", _name(wanted)) + _wanted(path, wanted)


def _wanted(path: str, wanted: Spec) -> Errors:
    errors = required_subdomain(f"{path}.deviceClassName", wanted.get("deviceClassName", ""))
    errors += each(f"{path}.selectors", wanted.get("selectors") or (), words.selector, words.MAX_SELECTORS)
    mode, count = wanted.get("allocationMode", ""), wanted.get("count", 0)
    if mode == "All" and count:
        errors.append(invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount" and count <= 0:
        errors.append(invalid(f"{path}.count", count, "must be greater than zero"))
    elif mode not in {"All", "ExactCount"}:
        errors.append(not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount")))
    return errors + each(f"{path}.tolerations", wanted.get("tolerations") or (), words.toleration)


def _constraint(path: str, constraint: Spec, known: Requests) -> Errors:
    errors = request_references(path, constraint, known)
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            return errors + words.fully_qualified_name(f"{path}.{field}", constraint[field])
    return [*errors, required(path, _NO_ATTRIBUTE)]


def request_references(path: str, holder: Spec, known: Requests) -> Errors:
    return each_once(
        f"{path}.requests",
        holder.get("requests") or (),
        lambda here, name: request_reference(here, name, known),
        str,
        _MAX_REQUESTS,
    )


def request_reference(path: str, name: str, known: Requests) -> Errors:
    segments = name.split("/")
    unknown = invalid(path, name, _NO_SUCH_REQUEST)
    if len(segments) > 2:
        return [unknown]
    errors = [error for segment in segments for error in dns_label(path, segment)]
    found = segments[0] in known and (len(segments) == 1 or segments[1] in known[segments[0]])
    return errors if found else [*errors, unknown]
