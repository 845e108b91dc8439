"""Transcripts of a shell: commands and what they print, as a person would note them down.

    $ kubectl create configmap a --from-literal=k=v
    configmap/a created

A line `$ …` is a command, run by kubectl alone, without a shell; the lines to the next one are what it prints, errors included.
`...` in them stands for anything within a line, a line of `...` alone for any lines. `<<` after a command says that the
manifest in the block below, up to the line `EOF`, is its standard input. `#` begins a remark.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from setpoint.testing.real import Kubectl


class Step(Struct, frozen=True):
    """One command: its words without `kubectl`, its standard input, and the lines it must print."""

    line: int
    words: tuple[str, ...]
    stdin: str | None
    expected: tuple[str, ...]


def read(path: Path) -> list[Step]:
    """The steps of a transcript."""
    return [*_steps(path.read_text(encoding="utf-8").splitlines())]


def _steps(lines: Sequence[str]) -> Iterator[Step]:
    number = 0
    while number < len(lines):
        line, start = lines[number], number + 1
        number += 1
        if not line.startswith("$ "):
            continue
        stdin = None
        if line.endswith("<<"):
            end = lines.index("EOF", number)
            stdin = "\n".join(lines[number:end]) + "\n"
            number = end + 1
        first = number
        while number < len(lines) and not lines[number].startswith(("$ ", "# ")):
            number += 1
        expected = tuple(each for each in lines[first:number] if each)
        words = tuple(shlex.split(line.removesuffix("<<")[2:]))
        yield Step(start, words[1:], stdin, expected)


def difference(step: Step, kubectl: Kubectl) -> str:
    """Run a step; what it printed when that is not what it must print, else nothing."""
    done = kubectl.run(*step.words, stdin=step.stdin)
    printed = tuple(line.rstrip() for line in (done.stdout + done.stderr).splitlines() if line.strip())
    if pattern(step.expected).fullmatch("".join(f"{line}\n" for line in printed)):
        return ""
    wanted = "\n".join(step.expected)
    return f"line {step.line}: kubectl {shlex.join(step.words)}\n--- printed (code {done.returncode})\n" + "\n".join(
        [*printed, "--- wanted", wanted]
    )


def pattern(expected: Sequence[str]) -> re.Pattern[str]:
    """The expression that fits what must be printed."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        pieces = (re.escape(piece) for piece in line.rstrip().split("..."))
        parts.append(".*?".join(pieces) + r"[ ]*\n")
    return re.compile("".join(parts))
