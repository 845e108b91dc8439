"""What is asked, in the words of refusals. Source: apiserver `endpoints/handlers/responsewriters/errors.go`."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, forbidden_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.routing import RequestInfo

_TAGS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def name_of(info: RequestInfo) -> str:
    """The object that a request is about; that of a list whose field selector names one, too."""
    return info.name or info.selected


def denied(user: UserInfo, info: RequestInfo, reason: str = "") -> StatusError:
    """The 403 for a refused request."""
    why = _sentence(user, info).translate(_TAGS)
    if reason:
        why = f"{why}: {reason}"
    if not info.is_resource:
        return StatusError(403, "Forbidden", f"forbidden: {why}", {})
    return forbidden_object(info.group, info.resource, name_of(info), why)


def _sentence(user: UserInfo, info: RequestInfo) -> str:
    who = f"User {_quoted(user.name)} cannot {info.verb}"
    if not info.is_resource:
        return f"{who} path {_quoted(info.path)}"
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    scope = f"in the namespace {_quoted(info.namespace)}" if info.namespace else "at the cluster scope"
    return f"{who} resource {_quoted(resource)} in API group {_quoted(info.group)} {scope}"


def _quoted(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from setpoint.api.machinery.schema.reading import go_quoted

    return go_quoted(text)
