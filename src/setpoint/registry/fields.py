"""Small checks that many kinds share, as lists of field errors.

Paths are texts (`spec.containers[0].name`). Source: apimachinery `api/validation` and Kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.selectors import label_selector_errors
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry import formats

Errors = list[FieldError]

#: the path part of a domain-prefixed path (RFC 3986, as apimachinery's `IsDomainPrefixedPath` has it)
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


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


def domain_name(path: str, value: str, *, segments: int) -> Errors:
    """A name of so many segments at least: three for apimachinery's `IsFullyQualifiedName`, two for `IsFullyQualifiedDomainName`.

    The latter also wants each segment to be a label.
    """
    if not value:
        return [required(path)]
    if messages := names.dns_subdomain(value):
        return [invalid(path, value, ",".join(messages))]
    if value.count(".") + 1 < segments:
        count = {2: "two", 3: "three"}[segments]
        return [invalid(path, value, f"should be a domain with at least {count} segments separated by dots")]
    labels = value.split(".") if segments == 2 else ()
    return next(([invalid(path, label, ",".join(why))] for label in labels if (why := names.dns_label(label))), [])


def domain_prefixed_path(path: str, value: str) -> Errors:
    """`acme.io/foo`: a domain, a slash, and a path."""
    if not value:
        return [required(path)]
    domain, slash, rest = value.partition("/")
    if not slash or not domain or not rest:
        return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = dns_subdomain(path, domain)
    if not re.fullmatch(_PATH, rest):
        errors.append(invalid(path, rest, names.regex_complaint("Invalid path", _PATH)))
    return errors


def path_segment(path: str, value: str) -> Errors:
    """What may stand between two slashes of a URL."""
    return complain(path, value, names.path_segment(value))


def required_segment(path: str, value: str) -> Errors:
    return path_segment(path, value) if value else [required(path)]


def required_subdomain(path: str, value: str) -> Errors:
    return dns_subdomain(path, value) if value else [required(path)]


def one_of(path: str, value: str | None, allowed: Iterable[str]) -> Errors:
    """One of the words; absent is fine. Kubernetes lists sets in alphabetical order: give them so."""
    words = tuple(allowed)
    return [] if value is None or value in words else [not_supported(path, value, words)]


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
