"""Minimum, maximum, and how far a limit may exceed its request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.quantity import Quantity
from setpoint.registry.pod.aggregate import Amounts, aggregate_limits, aggregate_requests, amounts, pod_level

Check = Callable[[str, Quantity, Quantity | None, Quantity | None], str]


def pod_errors(spec: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Containers one by one, and the pod as a whole."""
    errors: list[str] = []
    for limit in limits:
        kind = limit.get("type")
        if kind == "Container":
            for field in ("containers", "initContainers"):
                for container in spec.get(field) or ():
                    resources = container.get("resources")
                    errors += _errors(limit, amounts(resources, "requests"), amounts(resources, "limits"))
        elif kind == "Pod":
            requests, limited = aggregate_requests(spec), aggregate_limits(spec)
            errors += _errors(limit, requests | pod_level(spec, "requests"), limited | pod_level(spec, "limits"))
    return errors


def claim_errors(spec: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]) -> list[str]:
    """A claim has requests only."""
    requests = amounts(spec.get("resources"), "requests")
    errors: list[str] = []
    for limit in limits:
        if limit.get("type") == "PersistentVolumeClaim":
            errors += _each(limit, "min", requests, {}, _minimum)
            errors += _each(limit, "max", requests, {}, _maximum_request)
    return errors


def _errors(limit: Mapping[str, Any], requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _each(limit, "min", requests, limits, _minimum)
    yield from _each(limit, "max", requests, limits, _maximum)
    yield from _each(limit, "maxLimitRequestRatio", requests, limits, _ratio)


def _each(limit: Mapping[str, Any], field: str, requests: Amounts, limits: Amounts, check: Check) -> Iterator[str]:
    for name, text in sorted((limit.get(field) or {}).items()):
        enforced = quantity.parse(str(text))
        title = {"min": "minimum ", "max": "maximum "}.get(field, "") + name
        title += f" max limit to request ratio per {limit['type']}" if check is _ratio else f" usage per {limit['type']}"
        if why := check(f"{title} is {enforced}", enforced, requests.get(name), limits.get(name)):
            yield why


def _minimum(title: str, enforced: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if request is None:
        return f"{title}.  No request is specified"
    if request < enforced:
        return f"{title}, but request is {request}"
    if limit is not None and limit < enforced:
        return f"{title}, but limit is {limit}"
    return ""


def _maximum(title: str, enforced: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if limit is None:
        return f"{title}.  No limit is specified"
    if limit > enforced:
        return f"{title}, but limit is {limit}"
    if request is not None and request > enforced:
        return f"{title}, but request is {request}"
    return ""


def _maximum_request(title: str, enforced: Quantity, request: Quantity | None, _: Quantity | None) -> str:
    if request is None:
        return f"{title}.  No request is specified"
    return f"{title}, but request is {request}" if request > enforced else ""


def _ratio(title: str, enforced: Quantity, request: Quantity | None, limit: Quantity | None) -> str:
    if not request:
        return f"{title}, but no request is specified or request is 0"
    if not limit:
        return f"{title}, but no limit is specified or limit is 0"
    ratio = limit.nanos / request.nanos
    return f"{title}, but provided ratio is {ratio:f}" if ratio > enforced.as_float() else ""
