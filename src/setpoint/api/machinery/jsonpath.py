"""JSONPath as Kubernetes' columns and selectable fields use it: `.spec.a`, `.list[0].b`, `[*]`, `['a.b']`, `[?(@.type=="x")]`.

Source: client-go `util/jsonpath`, the part of it that has no template text around it. A field that is not there gives nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_TOKEN = re.compile(
    r"""\.\.(?P<deep>[^.\[\]]+)?|\.(?P<field>(?:\\.|[^.\[\\])*)|\[(?P<inside>(?:'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\?\(.*?\)(?=\])|[^\]])*)\]"""
)
_FILTER = re.compile(r"^\?\(\s*(?P<left>.+?)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<right>.+?)\s*)?\)$")
_SLICE = re.compile(r"^(-?\d+)?(?::(-?\d+)?(?::(-?\d+)?)?)?$")
_PART = re.compile(r"""(?:'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^,])+""")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class JsonPathError(ValueError):
    """A text that is no JSONPath."""


class JsonPath:
    """A compiled path; `find` gives what it leads to, in order."""

    def __init__(self, text: str) -> None:
        inner = text.strip().removeprefix("{").removesuffix("}").removeprefix("$")
        if inner and inner[0] not in ".[":
            inner = f".{inner}"
        self._steps = list(_steps(inner))

    def find(self, value: Any) -> list[Any]:
        found = [value]
        for step in self._steps:
            found = [below for each in found for below in step(each)]
        return found


def _steps(text: str) -> Iterator[Step]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise JsonPathError(f"unrecognized character in action: {text[at:]!r}")
        at = match.end()
        if match["inside"] is not None:
            yield _bracket(match["inside"].strip())
        elif match["field"]:
            name = re.sub(r"\\(.)", r"\1", match["field"])
            yield _every if name == "*" else _field(name)
        elif match.group().startswith(".."):
            yield _deep(match["deep"] or "*")


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _deep(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and (name == "*" or name in value):
            yield from value.values() if name == "*" else (value[name],)
        for below in _every(value):
            yield from step(below)

    return step


def _bracket(inside: str) -> Step:
    if inside == "*":
        return _every
    if inside.startswith("?"):
        return _filter(inside)
    parts = _PART.findall(inside)
    if len(parts) > 1:
        return _union([_bracket(part.strip()) for part in parts])
    if inside[:1] in ("'", '"'):
        return _field(re.sub(r"\\(.)", r"\1", inside[1:-1]))
    match = _SLICE.match(inside)
    if match is None or not inside:
        raise JsonPathError(f"invalid array index {inside}")
    if ":" not in inside:
        return _index(int(inside))
    start, end, step = (int(part) if part else None for part in match.groups())
    if step is not None and step <= 0:
        raise JsonPathError("step must be > 0")
    part = slice(start, end, step)
    return lambda value: iter(value[part]) if isinstance(value, list) else iter(())


def _union(steps: list[Step]) -> Step:
    """What each of several steps finds, one after another."""
    return lambda value: (found for step in steps for found in step(value))


def _index(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _filter(inside: str) -> Step:
    match = _FILTER.match(inside)
    if match is None:
        raise JsonPathError(f"unterminated filter {inside}")
    left, right = _operand(match["left"]), _operand(match["right"]) if match["op"] else None
    compare = _COMPARE[match["op"]] if match["op"] else None

    def keeps(item: Any) -> bool:
        one = left(item)
        if right is None or compare is None:
            return bool(one)
        other = right(item)
        if not one or not other:
            return False
        try:
            return compare(one[0], other[0])
        except TypeError:
            return False

    return lambda value: (item for item in _every(value) if keeps(item))


def _operand(text: str) -> Callable[[Any], list[Any]]:
    if text.startswith("@"):
        return JsonPath(text[1:]).find
    if text[:1] in ("'", '"'):
        value: Any = re.sub(r"\\(.)", r"\1", text[1:-1])
    elif text in ("true", "false"):
        value = text == "true"
    else:
        try:
            value = float(text) if "." in text else int(text)
        except ValueError:
            raise JsonPathError(f"unrecognized operand {text}") from None
    return lambda _: [value]
