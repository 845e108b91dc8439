"""Small checks that many kinds share, as lists of field errors.

Paths are texts (`spec.containers[0].name`). Source: apimachinery `api/validation` and Kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.selectors import label_selector_errors
from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry import formats

Errors = list[FieldError]


def complain(path: str, value: Any, messages: Iterable[str]) -> Errors:
    """One `Invalid value` per message."""
    return [invalid(path, value, message) for message in messages]


def dns_label(path: str, value: str) -> Errors:
    return complain(path, value, names.dns_label(value))


def dns_subdomain(path: str, value: str) -> Errors:
    return complain(path, value, names.dns_subdomain(value))


def qualified_name(path: str, value: str) -> Errors:
    return complain(path, value, names.qualified_name(value))


def nonnegative(path: str, value: int | None) -> Errors:
    """Absent counts as zero."""
    return [invalid(path, value, formats.NOT_NEGATIVE)] if value is not None and value < 0 else []


def nonnegatives(path: str, obj: Mapping[str, Any], *fields: str) -> Errors:
    """`nonnegative` for several fields of one object, in the order given."""
    return [error for name in fields for error in nonnegative(f"{path}.{name}", obj.get(name))]


def port_or_name(path: str, value: int | str) -> Errors:
    """A port given by number or by name."""
    if isinstance(value, str):
        return complain(path, value, names.port_name(value))
    return complain(path, value, names.port_number(value))


def immutable(path: str, new: Any, old: Any) -> Errors:
    return [] if new == old else [invalid(path, new, formats.IMMUTABLE)]


def labels(path: str, values: Mapping[str, str] | None) -> Errors:
    """A map of labels: keys are qualified names, values label values."""
    return names.label_errors(values, path) if values else []


def label_selector(path: str, selector: Mapping[str, Any] | None, *, allow_invalid_values: bool = False) -> Errors:
    """A metav1.LabelSelector: labels to match and expressions."""
    return label_selector_errors(selector, path, check_values=not allow_invalid_values) if selector else []
