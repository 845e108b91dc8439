"""The part of jq that the expressions of Stages are written in: paths, `.[]`, and `select` with a comparison.

    .status.phase
    .metadata.annotations["delay"]
    .status.conditions.[] | select( .type == "Ready" ) | .status

An expression gives a list of values; a member that is not there, null, or empty gives none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from setpoint.node.simulated.durations import StageError

Filter = Callable[[Sequence[Any]], list[Any]]
Expression = Callable[[Any], list[Any]]
_STEP = re.compile(r"""\.?\[\]\??|\.?\["((?:[^"\\]|\\.)*)"\]\??|\.?\[(\d+)\]\??|\.([A-Za-z_]\w*)\??""")
_LISTS = (list, tuple)  # what a Struct becomes keeps its tuples
_SELECT = re.compile(r"select\(\s*(.+?)\s*(==|!=)\s*(.+?)\s*\)")


def parse(text: str) -> Expression:
    """Raises StageError for what is not supported."""
    filters = [_filter(part.strip(), text) for part in _parts(text)]

    def evaluate(obj: Any) -> list[Any]:
        values: list[Any] = [obj]
        for each in filters:
            values = each(values)
        return [value for value in values if value is not None and value not in ("", [], (), {})]

    return evaluate


def _parts(text: str) -> list[str]:
    """Split at the bars that stand outside of quotes."""
    return [part for part in re.split(r"""\|(?=(?:[^"]*"[^"]*")*[^"]*$)""", text) if part.strip()]


def _filter(part: str, whole: str) -> Filter:
    select = _SELECT.fullmatch(part)
    if select is not None:
        return _select(_path(select[1], whole), _literal(select[3], whole), equal=select[2] == "==")
    return _path(part, whole)


def _select(path: Filter, wanted: Any, *, equal: bool) -> Filter:
    return lambda values: [value for value in values if (wanted in path([value])) == equal]


def _literal(text: str, whole: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise StageError(f"{whole!r}: {text!r} is no value to compare with") from error


def _path(text: str, whole: str) -> Filter:
    steps: list[Any] = []
    place = 0
    while place < len(text) and text != ".":
        match = _STEP.match(text, place)
        if match is None:
            raise StageError(f"the expression {whole!r} is not supported: paths, .[] and select(path == value) are")
        key, index, name = match.groups()
        steps.append(key if key is not None else int(index) if index is not None else name)
        place = match.end()

    def follow(values: Sequence[Any]) -> list[Any]:
        found = list(values)
        for step in steps:
            found = [item for value in found for item in _step(value, step)]
        return found

    return follow


def _step(value: Any, step: str | int | None) -> Sequence[Any]:
    if step is None:
        return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, _LISTS) else ()
    if isinstance(step, int):
        return value[step : step + 1] if isinstance(value, _LISTS) else ()
    return (value[step],) if isinstance(value, Mapping) and step in value else ()
