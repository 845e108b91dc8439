"""Objects as Kubernetes' own Go structs print them, for the messages that show a struct or a difference of two.

The internal types have Go's field names, print every field and `null` for what is nil, and stand in another order than the
published ones. A shape is written as a line of fields:

    Name        a text          Size#   a number        TTY?     a boolean      (absent: "", 0, false)
    Command~    nil-able, taken as it is                (absent: null)
    Ports[]ContainerPort   a list of structs            Probe*Probe   a pointer to one       Resources.Resources   one by value

A field's name on the wire follows from Go's by rule, or stands after a colon: `EndpointsName:endpoints`.
Source: `pkg/apis/core/types.go`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import orjson

from setpoint.registry.go_shapes import SHAPES

_FIELD = re.compile(r"(\w+)(?::(\w+))?(?:([#?~])|(\[\]|\*|\.)(\w+))?")
_ZERO = {"": "", "#": 0, "?": False, "~": None}


class _Field(NamedTuple):
    go: str
    wire: str
    kind: str
    shape: str


@cache
def _fields(shape: str) -> tuple[_Field, ...]:
    out = []
    for token in SHAPES[shape].split():
        match = _FIELD.fullmatch(token)
        if match is None:
            raise ValueError(token)
        go, wire, scalar, struct, inner = match.groups()
        out.append(_Field(go, wire or wire_name(go), scalar or struct or "", inner or ""))
    return tuple(out)


def wire_name(go: str) -> str:
    """`DNSPolicy` is `dnsPolicy`, `TTY` is `tty`: the leading capitals in lower case, but the one that begins the next word."""
    leading = re.match(r"[A-Z]+", go)
    length = leading.end() if leading else 0
    if 1 < length < len(go):
        length -= 1
    return go[:length].lower() + go[length:]


def of(obj: Mapping[str, Any], shape: str) -> dict[str, Any]:
    """The struct with all its fields, in Go's order; ready to be printed as JSON."""
    return {field.go: _value(obj.get(field.wire), field) for field in _fields(shape)}


def each(items: Iterable[Mapping[str, Any]] | None, shape: str) -> list[dict[str, Any]] | None:
    """A list of such structs; None, as `null`, where there is no list."""
    return None if items is None else [of(item, shape) for item in items]


def _value(value: Any, field: _Field) -> Any:
    if field.kind == ".":
        return of(value or {}, field.shape)
    if value is None:
        return _ZERO.get(field.kind)
    if field.kind == "[]":
        return each(value, field.shape)
    if field.kind == "*":
        return of(value, field.shape)
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def pod_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A PodSpec; inside Kubernetes the host's namespaces belong to the security context."""
    moved = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
    security = {**(spec.get("securityContext") or {}), **{name: spec[name] for name in moved if name in spec}}
    return of({**spec, "securityContext": security if security or "securityContext" in spec else None}, "PodSpec")


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What changed, as a unified diff of the printed structs (blank-indented JSON, three lines of context)."""
    before, after = (_lines(value) for value in (old, new))
    hunks = list(difflib.unified_diff(before, after, lineterm="\n"))
    return "".join(hunks[2:])


def _lines(value: Mapping[str, Any]) -> list[str]:
    import json

    return json.dumps(orjson.loads(orjson.dumps(value)), indent=1, ensure_ascii=False).splitlines(keepends=True)


def equal(one: Any, other: Any) -> bool:
    """Semantic equality: empty and absent are the same."""
    if one == other or (one in (None, [], {}) and other in (None, [], {})):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return all(equal(one.get(key), other.get(key)) for key in one.keys() | other.keys())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return False


def label_selector(selector: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A metav1.LabelSelector, which prints as on the wire: fields in their order, without what is empty."""
    if selector is None:
        return None
    out: dict[str, Any] = {}
    if selector.get("matchLabels"):
        out["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    if selector.get("matchExpressions"):
        fields = ("key", "operator", "values")
        out["matchExpressions"] = [
            {name: expression[name] for name in fields if expression.get(name)} for expression in selector["matchExpressions"]
        ]
    return out
