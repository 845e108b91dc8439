"""Query parameters of reads and writes, checked as Kubernetes checks them.

Source: apimachinery `meta/v1/validation`, `meta/internalversion/validation`, `conversion/queryparams`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import integers, names, selectors
from setpoint.api.machinery.status import (
    FieldError,
    bad_request,
    forbidden,
    invalid_object,
    not_supported,
    required,
)
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import is_true

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
Query = Mapping[str, Sequence[str]]


def integer(query: Query, name: str) -> int | None:
    """An int64 parameter; None where absent. Raises 400."""
    values = query.get(name)
    if values is None:
        return None
    try:
        return integers.parse(values[0])
    except ValueError as error:
        raise bad_request(str(error)) from error


def boolean(query: Query, name: str) -> bool | None:
    values = query.get(name)
    return None if values is None else is_true(values[0])


def text(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)").fullmatch
_WITH_UNITS = re.compile(r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^.0-9]*))+").fullmatch
_UNITS = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^.0-9]*)").findall


def check_timeout(query: Query) -> None:
    """Refuse a `timeout` that is no duration (apiserver `filters/request_deadline.go`; the words are Go's). Raises 400."""
    text = query["timeout"][0]
    if not text or _DURATION(text) is not None:
        return
    why = f'invalid duration "{text}"'
    if _WITH_UNITS(text) is not None:
        wrong = next(unit for unit in _UNITS(text) if unit not in _KNOWN_UNITS)
        why = f'unknown unit "{wrong}" in duration "{text}"' if wrong else f'missing unit in duration "{text}"'
    raise bad_request(f"invalid timeout specified in the request URL - time: {why}")


_KNOWN_UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")


class ListOptions(Struct, frozen=True):
    """ListOptions of a list, watch or deletecollection; selectors are parsed."""

    labels: selectors.LabelSelector
    fields: selectors.FieldSelector
    resource_version: str = ""
    match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout: int | None = None
    bookmarks: bool = False
    initial_events: bool | None = None


_ALL_LABELS = selectors.LabelSelector()
_ALL_FIELDS = selectors.FieldSelector()
NOTHING_ASKED = ListOptions(_ALL_LABELS, _ALL_FIELDS)


def list_options(query: Query, *, watch: bool) -> ListOptions:
    """The options of a list or watch. Raises 400 and 422."""
    if not query:
        return NOTHING_ASKED
    timeout, limit = integer(query, "timeoutSeconds"), integer(query, "limit")
    try:
        labels, fields = text(query, "labelSelector"), text(query, "fieldSelector")
        options = ListOptions(
            labels=selectors.parse_labels(labels) if labels else _ALL_LABELS,
            fields=selectors.parse_fields(fields) if fields else _ALL_FIELDS,
            resource_version=text(query, "resourceVersion"),
            match=text(query, "resourceVersionMatch"),
            limit=max(0, limit or 0),
            continue_token=text(query, "continue"),
            timeout=timeout,
            bookmarks=bool(boolean(query, "allowWatchBookmarks")),
            initial_events=boolean(query, "sendInitialEvents"),
        )
    except selectors.SelectorError as error:
        raise bad_request(str(error)) from None
    if errors := (_check_watch(options) if watch else _check_list(options)):
        raise invalid_object("meta.k8s.io", "ListOptions", "", errors)
    return options


def _check_list(options: ListOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    field = "resourceVersionMatch"
    if options.match:
        if not options.resource_version:
            errors.append(forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if options.continue_token:
            errors.append(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"))
        if options.match not in ("Exact", "NotOlderThan"):
            errors.append(not_supported(field, options.match, ("Exact", "NotOlderThan", "")))
        if options.match == "Exact" and options.resource_version == "0":
            errors.append(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if options.initial_events is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _check_watch(options: ListOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    field = "resourceVersionMatch"
    if options.initial_events is not None and options.match != "NotOlderThan":
        errors.append(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if options.match and options.initial_events is None:
        errors.append(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
    if options.match and options.match != "NotOlderThan":
        errors.append(not_supported(field, options.match, ("NotOlderThan",)))
    if options.continue_token:
        errors.append(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"))
    return errors


class WriteOptions(Struct, frozen=True):
    """CreateOptions, UpdateOptions or PatchOptions. `field_manager` is empty where none was named."""

    kind: str
    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None
    #: what DeleteOptions have besides
    deletion: Mapping[str, Any] = {}

    @property
    def validation(self) -> str:
        """Ignore, Warn or Strict."""
        return self.field_validation or "Warn"

    def as_dict(self) -> dict[str, Any]:
        """As admission sees them."""
        out: dict[str, Any] = {"kind": self.kind, "apiVersion": "meta.k8s.io/v1"}
        if self.deletion:
            out |= self.deletion
        if self.dry_run:
            out["dryRun"] = ["All"]
        if self.field_manager:
            out["fieldManager"] = self.field_manager
        if self.field_validation:
            out["fieldValidation"] = self.field_validation
        if self.force is not None:
            out["force"] = self.force
        return out


_PLAIN = {kind: WriteOptions(kind) for kind in ("CreateOptions", "UpdateOptions", "PatchOptions")}


def write_options(request: Request, kind: str, *, apply: bool = False) -> WriteOptions:
    """The options of a write. Raises 422."""
    query = request.query
    if not query and not apply:
        return _PLAIN[kind]
    force = boolean(query, "force") if kind == "PatchOptions" else None
    manager, validation = text(query, "fieldManager"), text(query, "fieldValidation")
    dry_run = query.get("dryRun")
    errors: list[FieldError] = []
    if force is not None and not apply:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    if apply and not manager:
        errors.append(required("fieldManager", "is required for apply patch"))
    errors += names.manager_errors(manager, "fieldManager")
    errors += check_dry_run(dry_run)
    if validation not in _VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    if errors:
        raise invalid_object("meta.k8s.io", kind, "", errors)
    return WriteOptions(kind, bool(dry_run), manager, validation, force)


def check_dry_run(values: Sequence[str] | None) -> list[FieldError]:
    if values is None or all(value == "All" for value in values):
        return []
    return [not_supported("dryRun", list(values), ("All",))]


def manager_of(options: WriteOptions, request: Request) -> str:
    """The name that owns what is written: the one given, or the User-Agent up to its first slash."""
    if options.field_manager:
        return options.field_manager
    return _of_agent(request.headers.get("user-agent", ""))


@lru_cache(maxsize=256)
def _of_agent(agent: str) -> str:
    prefix = agent.partition("/")[0]
    printable = "".join(letter for letter in prefix if letter.isprintable()).encode()
    return printable[: names.MANAGER_LIMIT].decode(errors="ignore") or "unknown"
