"""Kubernetes' Status errors: the only errors that leave the API server.

Source: apimachinery's `api/errors` and `util/validation/field`. The texts are part of the wire; clients compare them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

_CAUSES = {
    "FieldValueNotFound": "Not found",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
    "FieldValueTypeInvalid": "Invalid value",
}
#: the value of an `Invalid value` that is not shown (field.OmitValueType)
OMITTED: Any = object()
_WITHOUT_VALUE = {"FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong", "InternalError"}


class FieldError(Struct, frozen=True):
    """One complaint about one field: `reason` is the cause's reason on the wire, `field` a path such as `spec.ports[0].port`."""

    reason: str
    field: str
    value: Any = None
    detail: str = ""

    def body(self) -> str:
        """The text without the field: `Invalid value: "x": must be …`."""
        text = _CAUSES[self.reason]
        if self.reason not in _WITHOUT_VALUE and self.value is not OMITTED:
            text += f": {go_value(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"

    def cause(self) -> dict[str, Any]:
        return {"reason": self.reason, "message": self.body(), "field": self.field}


def go_value(value: Any) -> str:
    """A value as Kubernetes prints it in a field error: texts as Go's `%q`, the rest as JSON, with `null` for nothing."""
    if isinstance(value, str) and not value.isprintable():
        from setpoint.api.machinery.schema.reading import go_quoted

        return go_quoted(value)
    if isinstance(value, float):
        return go_double(value)
    text = orjson.dumps(value).decode()
    if isinstance(value, dict | list):  # Go's JSON encoder escapes what HTML would read as tags
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text


def go_double(value: float) -> str:
    """A double as Go's `%v`: the shortest digits, with an exponent from a million on and below a ten-thousandth."""
    from decimal import Decimal  # few answers show a double

    number = Decimal(repr(value))
    exponent = number.adjusted()
    if not value or -4 <= exponent < 6:
        return repr(value).removesuffix(".0")
    return f"{number.normalize():e}".partition("e")[0] + f"e{exponent:+03d}"


def required(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, None, detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", field, value, detail)


def forbidden(field: str, detail: str) -> FieldError:
    return FieldError("FieldValueForbidden", field, None, detail)


def duplicate(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueDuplicate", field, value)


def missing(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueNotFound", field, value)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """`supported` is printed sorted as given by the caller; Kubernetes sorts sets by name."""
    words = ", ".join(go_value(word) for word in supported)
    return FieldError("FieldValueNotSupported", field, value, f"supported values: {words}" if words else "")


def too_long(field: str, limit: int) -> FieldError:
    return FieldError("FieldValueTooLong", field, None, f"may not be more than {limit} byte{'' if limit == 1 else 's'}")


def too_many(field: str, actual: int, limit: int) -> FieldError:
    return FieldError("FieldValueTooMany", field, actual, f"must have at most {limit} item{'' if limit == 1 else 's'}")


def internal(field: str, detail: str) -> FieldError:
    return FieldError("InternalError", field, None, detail)


class StatusError(Exception):
    """An answer of the API that is a failure: HTTP code, reason, message and details exactly as Kubernetes gives them."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.meta = meta or {}
        #: what is to be said besides, as `Warning` headers
        self.warnings: Sequence[str] = ()

    def status(self) -> dict[str, Any]:
        """The `Status` object as plain JSON."""
        out: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.meta),
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            out["reason"] = self.reason
        if self.details is not None:
            out["details"] = dict(self.details)
        out["code"] = self.code
        return out

    @property
    def retry_after(self) -> int | None:
        """Seconds after which to try again, where the answer says so."""
        return (self.details or {}).get("retryAfterSeconds")

    @classmethod
    def parse(cls, status: Mapping[str, Any]) -> StatusError:
        """The error that a `Status` object, read by a client, stands for."""
        return cls(
            int(status.get("code") or 0),
            str(status.get("reason") or ""),
            str(status.get("message") or ""),
            status.get("details"),
            meta=status.get("metadata"),
        )


def qualified(resource: str, group: str) -> str:
    """`deployments.apps`, `pods`: a resource or kind with its group, as messages name it."""
    return f"{resource}.{group}" if group else resource


def _details(name: str, group: str, kind: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in {"name": name, "group": group, "kind": kind, **more}.items() if value not in ("", None)}


def not_found(group: str, resource: str, name: str) -> StatusError:
    return StatusError(404, "NotFound", f'{qualified(resource, group)} "{name}" not found', _details(name, group, resource))


def already_exists(group: str, resource: str, name: str) -> StatusError:
    return StatusError(
        409, "AlreadyExists", f'{qualified(resource, group)} "{name}" already exists', _details(name, group, resource)
    )


def conflict(group: str, resource: str, name: str, why: str) -> StatusError:
    return StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}',
        _details(name, group, resource),
    )


def invalid_object(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> StatusError:
    """422 with one cause per field error; `kind` is the Kind (`Pod`), as validation names it."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return StatusError(
        422,
        "Invalid",
        f'{qualified(kind, group)} "{name}" is invalid: {listed}',
        _details(name, group, kind, causes=[error.cause() for error in errors]),
    )


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden_object(group: str, resource: str, name: str, why: str, causes: Sequence[Mapping[str, Any]] = ()) -> StatusError:
    """Of what has neither resource nor group (a path whose parts are empty), only the word is said."""
    target = f"{qualified(resource, group)} " if resource or group else ""
    if target and name:
        target += f'"{name}" '
    said = f"{target}is forbidden: {why}" if target else f"forbidden: {why}"
    return StatusError(403, "Forbidden", said, _details(name, group, resource, causes=list(causes) or None))


def method_not_allowed(group: str = "", resource: str = "") -> StatusError:
    return StatusError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        _details("", group, resource),
    )


def method_not_supported(group: str, resource: str, verb: str) -> StatusError:
    """405 in the words of the server of custom resources."""
    name = f"{resource}.{group}" if group else resource
    message = f'{verb} is not supported on resources of kind "{name}"'
    return StatusError(405, "MethodNotAllowed", message, _details("", group, resource))


def expired(message: str, continue_token: str = "") -> StatusError:
    return StatusError(410, "Expired", message, meta={"continue": continue_token} if continue_token else None)


def too_many_requests(message: str, seconds: int) -> StatusError:
    return StatusError(429, "TooManyRequests", message, {"retryAfterSeconds": seconds} if seconds else {})


def internal_error(message: str) -> StatusError:
    return StatusError(
        500,
        "InternalError",
        f"Internal error occurred: {message}",
        {"causes": [{"message": message}]},
    )


def unsupported_media_type(message: str) -> StatusError:
    return StatusError(415, "UnsupportedMediaType", message)


def not_acceptable(message: str) -> StatusError:
    return StatusError(406, "NotAcceptable", message)
