"""Names and small structures of resource.k8s.io.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.api.machinery import names
from setpoint.api.machinery.status import invalid, not_supported, required, too_long
from setpoint.registry.dynamic_resources.selectors import validate_expression
from setpoint.registry.fields import Errors, complain, dns_subdomain
from setpoint.registry.pod.validation.remote_volumes import csi_driver_name

#: a driver of devices is named as one of volumes is
driver_name = csi_driver_name

MAX_CONFIGURATIONS = 32
MAX_SELECTORS = 32
#: of taints, and of the tolerations of them
EFFECTS = ("NoExecute", "NoSchedule", "None")
_LONGEST_IDENTIFIER = 32
_LONGEST_POOL = 253
_LONGEST_PARAMETERS = 10 * 1024  # bytes
_LONGEST_EXPRESSION = 10 * 1024  # bytes
_UID = re.compile(r"(urn:uuid:|\{)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?|[0-9a-f]{32}", re.IGNORECASE)
_UID_LENGTHS = (36, 36 + len("urn:uuid:"), 36 + len("{}"), 32)
_NORMAL_UID = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
_SLASH = "a fully qualified name must be a domain and a name separated by a slash"


def pool_name(path: str, name: str) -> Errors:
    if not name:
        return [required(path)]
    errors: Errors = [too_long(path, _LONGEST_POOL)] if len(name) > _LONGEST_POOL else []
    for part in name.split("/"):
        errors += dns_subdomain(path, part)
    return errors


def share_id(path: str, value: str | None) -> Errors:
    """A uid in its one form."""
    if value is None:
        return []
    if len(value) not in _UID_LENGTHS:
        return [invalid(path, value, f"error validating uid: invalid UUID length: {len(value)}")]
    if not _UID.fullmatch(value):
        return [invalid(path, value, "error validating uid: invalid UUID format")]
    if len(value) == len(_NORMAL_UID) and value == value.lower():
        return []
    return [
        invalid(path, value, f"uid must be in RFC 4122 normalized form, `{_NORMAL_UID}` with lowercase hexadecimal characters")
    ]


def _identifier(path: str, name: str) -> Errors:
    errors: Errors = [too_long(path, _LONGEST_IDENTIFIER)] if len(name) > _LONGEST_IDENTIFIER else []
    return errors + complain(path, name, names.c_identifier(name))


def qualified_name(path: str, name: str) -> Errors:
    """An attribute or capacity: an identifier, with the domain of another driver in front where it is not one's own."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return _identifier(path, name)
    if "/" in identifier:
        return [invalid(path, name, "must not contain more than one slash")]
    errors = driver_name(path, domain) if domain else [invalid(path, "", "the domain must not be empty")]
    if not identifier:
        return [*errors, invalid(path, "", "the name must not be empty")]
    return errors + _identifier(path, identifier)


def fully_qualified_name(path: str, name: str) -> Errors:
    errors = qualified_name(path, name)
    return errors if "/" in name else [*errors, invalid(path, name, _SLASH)]


def selector(path: str, value: Mapping[str, Any]) -> Errors:
    """An expression about a device."""
    cel = value.get("cel")
    if cel is None:
        return [required(f"{path}.cel")]
    expression = cel.get("expression", "")
    if len(expression.encode()) > _LONGEST_EXPRESSION:
        return [too_long(f"{path}.cel.expression", _LONGEST_EXPRESSION)]
    return validate_expression(f"{path}.cel.expression", expression)


def configuration(path: str, value: Mapping[str, Any]) -> Errors:
    """What only the driver understands: a JSON object."""
    opaque = value.get("opaque")
    if opaque is None:
        return [required(f"{path}.opaque")]
    errors = driver_name(f"{path}.opaque.driver", opaque.get("driver", ""))
    return errors + raw_object(f"{path}.opaque.parameters", opaque.get("parameters"))


def raw_object(path: str, value: Any) -> Errors:
    """A JSON object of moderate size."""
    if value is None:
        return [required(path)]
    if len(orjson.dumps(value)) > _LONGEST_PARAMETERS:
        return [too_long(path, _LONGEST_PARAMETERS)]
    return [] if isinstance(value, dict) else [invalid(path, "<value omitted>", "must be a valid JSON object")]


def toleration(path: str, value: Mapping[str, Any]) -> Errors:
    key, operator, effect = (value.get(field, "") for field in ("key", "operator", "effect"))
    errors = complain(f"{path}.key", key, names.label_key(key)) if key else []
    if operator == "Exists" and value.get("value"):
        errors.append(invalid(f"{path}.value", value["value"], "must be empty for operator `Exists`"))
    elif operator == "Equal":
        given = value.get("value", "")
        errors += complain(f"{path}.value", given, names.label_value(given))
    elif not operator:
        errors.append(required(f"{path}.operator"))
    elif operator != "Exists":
        errors.append(not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    if effect and effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))
    return errors
