"""Secrets.

Source: `pkg/apis/core/validation/validation.go` (ValidateSecret), `pkg/apis/core/v1/conversion.go` (stringData),
`pkg/registry/core/secret/strategy.go` (warnings).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

import orjson

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, required, too_long
from setpoint.registry.core.config_map import MAX_SIZE, decoded_size, frozen
from setpoint.registry.fields import Errors, complain, immutable
from setpoint.registry.strategy import Context, Object, Strategy

_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_TLS = "kubernetes.io/tls"
_PAIR = ("tls.crt", "tls.key")
_DOCKER_FILES = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


class SecretStrategy(Strategy):
    """`stringData` is a way of writing `data`; it is never stored."""

    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"type"})

    def default(self, obj: Object) -> None:
        texts = obj.pop("stringData", None)
        if texts:
            encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}
        if obj.get("data") and None in obj["data"].values():
            obj["data"] = {key: value or "" for key, value in obj["data"].items()}
        obj["type"] = obj.get("type") or "Opaque"

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        data = obj.get("data") or {}
        errors: Errors = []
        for key in sorted(data):
            errors += complain(f"data[{key}]", key, names.config_map_key(key))
        if sum(map(decoded_size, data.values())) > MAX_SIZE:
            errors.append(too_long("data", MAX_SIZE))
        return errors + _by_type(obj, data)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = immutable("type", obj.get("type", ""), old.get("type", ""))
        return errors + frozen(obj, old, ("data",)) + self.validate(context, obj)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return _warnings(obj) if obj.get("type") == _TLS else []

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"type": obj.get("type", "")}


def _warnings(secret: Object) -> list[str]:
    """A certificate and a key that cannot be used together are kept, but not in silence."""
    from setpoint.registry.certificates import key_pair

    certificate, key = (base64.b64decode((secret.get("data") or {}).get(name) or "") for name in _PAIR)
    problem = key_pair.complaint(certificate, key)
    return [problem] if problem else []


def _by_type(obj: Object, data: Mapping[str, Any]) -> Errors:
    """The keys that a known type must have."""
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        annotations = obj["metadata"].get("annotations") or {}
        return [] if annotations.get(_ACCOUNT_NAME) else [required(f"metadata.annotations[{_ACCOUNT_NAME}]")]
    if kind in _DOCKER_FILES:
        return _json_file(_DOCKER_FILES[kind], data)
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"}.intersection(data):
        return [required("data[username]"), required("data[password]")]
    if kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        return [required("data[ssh-privatekey]")]
    if kind == _TLS:
        return [required(f"data[{key}]") for key in _PAIR if key not in data]
    return []


def _json_file(key: str, data: Mapping[str, Any]) -> Errors:
    if key not in data:
        return [required(f"data[{key}]")]
    problem = _json_problem(base64.b64decode(data[key] or ""))
    return [invalid(f"data[{key}]", "<secret contents redacted>", problem)] if problem else []


def _json_problem(content: bytes) -> str:
    """Why this is no JSON object, in the words of Go's decoder; empty if it is one."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return _syntax_problem(content)
    if value is None or isinstance(value, dict):
        return ""
    kind = {bool: "bool", str: "string", list: "array"}.get(type(value), "number")
    return f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"


def _syntax_problem(content: bytes) -> str:
    from setpoint.api.machinery import gojson

    try:
        gojson.parse(content)
    except gojson.SyntaxComplaint as complaint:
        return str(complaint)
    return ""
