"""The selectors that an access review supposes, as far as they can be read.

Requirements all have to hold, so one that cannot be read is left out: what remains asks for more rights, never for fewer. The
answer then says so. Source: `pkg/registry/authorization/util/helpers.go`.

Anybody may ask about himself, and reading takes the event loop's time: of what is very long nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from setpoint.api.machinery.selectors import (
    FieldRequirement,
    FieldSelector,
    LabelSelector,
    SelectorError,
    from_object,
    parse_fields,
    parse_labels,
)
from setpoint.api.machinery.selectors import Requirement as LabelRequirement

Requirement = Mapping[str, Any]

MAX_TEXT = 64 * 1024  # characters of a selector that is read
MAX_VALUES = 4_096  # of all its requirements together


class Supposed(NamedTuple):
    """Both selectors, None where nothing of one could be read, and what is said of parts that could not be."""

    fields: FieldSelector | None = None
    labels: LabelSelector | None = None
    complaint: str = ""


def supposed(attributes: Mapping[str, Any]) -> Supposed:
    """The selectors of a review's `resourceAttributes`."""
    fields, unread_fields = _fields(attributes.get("fieldSelector") or {})
    labels, unread_labels = _labels(attributes.get("labelSelector") or {})
    complaints = []
    if unread_fields:
        complaints.append(_ignored("fieldSelector", partially=fields is not None))
    if unread_labels:
        complaints.append(_ignored("labelSelector", partially=labels is not None))
    return Supposed(fields, labels, "; ".join(complaints))


def _ignored(selector: str, *, partially: bool) -> str:
    how = "partially ignored" if partially else "ignored"
    return f"spec.resourceAttributes.{selector} {how} due to parse error"


def _fields(selector: Mapping[str, Any]) -> tuple[FieldSelector | None, bool]:
    """What could be read, and whether anything could not."""
    if text := selector.get("rawSelector"):
        try:
            return (parse_fields(text), False) if len(text) <= MAX_TEXT else (None, True)
        except SelectorError:
            return None, True
    given = selector.get("requirements") or ()
    read = tuple(_field_requirements(_short(given)))
    return FieldSelector(read) if read else None, len(read) < len(given)


def _field_requirements(requirements: Iterable[Requirement]) -> Iterable[FieldRequirement]:
    """Only these two operators, with one value each, have a field selector that says the same."""
    for requirement in requirements:
        operator, values = requirement.get("operator"), list(requirement.get("values") or ())
        if operator in ("In", "NotIn") and len(values) == 1:
            yield FieldRequirement(requirement.get("key") or "", values[0], operator == "In")


def _labels(selector: Mapping[str, Any]) -> tuple[LabelSelector | None, bool]:
    if text := selector.get("rawSelector"):
        try:
            return (parse_labels(text), False) if len(text) <= MAX_TEXT else (None, True)
        except SelectorError:
            return None, True
    given = selector.get("requirements") or ()
    read = tuple(_label_requirements(_short(given)))
    return LabelSelector(read) if read else None, len(read) < len(given)


def _short(requirements: Iterable[Requirement]) -> Iterable[Requirement]:
    """Those before there are too many values; one without any counts, too."""
    left = MAX_VALUES
    for requirement in requirements:
        left -= max(1, len(requirement.get("values") or ()))
        if left < 0:
            return
        yield requirement


def _label_requirements(requirements: Iterable[Requirement]) -> Iterable[LabelRequirement]:
    for requirement in requirements:
        try:
            yield from from_object({"matchExpressions": [requirement]}).requirements
        except SelectorError:
            continue
