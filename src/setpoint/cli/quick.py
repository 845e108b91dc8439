"""Reads the words of `setpoint up` and `setpoint component` without typer when they are plain options with plain values.

Typer costs a tenth of a whole start. Whatever is not plain (`--help`, an unknown option, a value of the wrong type or out of
bounds) is left to typer, which knows how to say so: this file never complains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setpoint.app.flags import Parameter

#: types whose values are read by calling them
_READ = (int, float, str, Path)


def arguments(parameters: Mapping[str, Parameter], words: Sequence[str]) -> dict[str, Any] | None:
    """What the words give the parameters, as typer would have it; None when typer has to look at them."""
    required = [name for name, parameter in parameters.items() if parameter.required]
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        name, value = _next(rest, required, found)
        parameter = parameters.get(name)
        if parameter is None or name in found or (parameter.kind is bool) != (value is None):
            return None
        if value is None:
            found[name] = True
            continue
        if parameter.kind not in _READ:
            return None
        try:
            found[name] = parameter.kind(value)
        except ValueError:
            return None
        if not _within(found[name], parameter):
            return None
    return found if all(name in found for name in required) else None


def _within(value: Any, parameter: Parameter) -> bool:
    least, most = parameter.flag.least, parameter.flag.most
    return (least is None or value >= least) and (most is None or value <= most)


def _next(rest: list[str], required: Sequence[str], found: dict[str, Any]) -> tuple[str, str | None]:
    """Take one option with its value, or one argument, off the front."""
    word = rest.pop(0)
    if not word.startswith("-"):
        return next((name for name in required if name not in found), ""), word
    name, equals, value = word.removeprefix("--").partition("=")
    if equals and not value.startswith("-"):
        return name.replace("-", "_"), value
    return name.replace("-", "_"), rest.pop(0) if rest and not rest[0].startswith("-") else None
