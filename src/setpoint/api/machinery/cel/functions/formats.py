"""Named formats: `format.dns1123Label().validate(text)`. Source: Kubernetes' `apiserver/pkg/cel/library/format.go`."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.api.machinery.cel.functions.network import OVERLOADS as NETWORK
from setpoint.api.machinery.cel.values import NONE, Optional, opaque_names, parse_timestamp

Check = Callable[[str], list[str]]


class NamedFormat(Struct, frozen=True):
    """A format that texts can be checked against."""

    name: str


opaque_names[NamedFormat] = "kubernetes.NamedFormat"
_uuid = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE).fullmatch


def _uri(text: str) -> list[str]:
    return [] if NETWORK["is_url_string"](text) else ["invalid URI"]


def _identifier(text: str) -> list[str]:
    return [] if _uuid(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return ["invalid date"]
    return [] if len(text) == len("2006-01-02") else ["invalid date"]


def _datetime(text: str) -> list[str]:
    return [] if parse_timestamp(text) else ["invalid datetime"]


_CHECKS: dict[str, Check] = {
    "dns1123Label": names.dns_label,
    "dns1123LabelPrefix": lambda text: names.dns_label(text, prefix=True),
    "dns1123Subdomain": names.dns_subdomain,
    "dns1123SubdomainPrefix": lambda text: names.dns_subdomain(text, prefix=True),
    "dns1035Label": names.dns1035_label,
    "dns1035LabelPrefix": lambda text: names.dns1035_label(text, prefix=True),
    "qualifiedName": names.qualified_name,
    "labelValue": names.label_value,
    "uri": _uri,
    "uuid": _identifier,
    "byte": _byte,
    "date": _date,
    "datetime": _datetime,
}


def _named(name: str) -> Optional:
    return Optional(NamedFormat(name), present=True) if name in _CHECKS else NONE


def _validate(format: NamedFormat, text: str) -> Optional:
    """The complaints, or none if the text is good."""
    messages = _CHECKS[format.name](text)
    return Optional(messages, present=True) if messages else NONE


def _constant(name: str) -> Callable[[], NamedFormat]:
    return lambda: NamedFormat(name)


OVERLOADS: dict[str, Callable[..., Any]] = {
    **{f"format_{name}": _constant(name) for name in _CHECKS},
    "format_named": _named,
    "format_validate": _validate,
}
