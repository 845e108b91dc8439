"""Starts `setpoint up` and `setpoint component` without importing typer when their words are plain options with plain values.

Typer costs a tenth of a whole start. Whatever is not plain (`--help`, an unknown option, a value of the wrong type) is left to
typer, which knows how to say so: this file never complains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

#: how a value is read, by the first word in the option's annotation
_READERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "Path": Path}


def arguments(command: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """What to call `command` with, by the same rules as typer's for its signature; None when typer has to look at it."""
    kinds = {name: _kind(text) for name, text in command.__annotations__.items() if name != "return"}
    required = [name for name in kinds if name not in _defaults(command)]
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        name, value = _next(rest, required, found)
        kind = kinds.get(name)
        if kind is None or name in found or (kind == "bool") != (value is None):
            return None
        try:
            found[name] = True if value is None else _READERS[kind](value)
        except (KeyError, ValueError):
            return None
    return found if all(name in found for name in required) else None


def _next(rest: list[str], required: Sequence[str], found: dict[str, Any]) -> tuple[str, str | None]:
    """Take one option with its value, or one argument, off the front."""
    word = rest.pop(0)
    if not word.startswith("-"):
        return next((name for name in required if name not in found), ""), word
    name, equals, value = word.removeprefix("--").partition("=")
    if equals and not value.startswith("-"):
        return name.replace("-", "_"), value
    return name.replace("-", "_"), rest.pop(0) if rest and not rest[0].startswith("-") else None


def _defaults(command: Callable[..., None]) -> Sequence[str]:
    code, values = command.__code__, command.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return names[len(names) - len(values) :]


def _kind(annotation: str) -> str:
    """`int` from `Annotated[int | None, …]`."""
    return annotation.removeprefix("Annotated[").split(",", 1)[0].split("|", 1)[0].strip()
