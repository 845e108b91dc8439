"""The command `setpoint`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from setpoint.app import flags
from setpoint.app.options import Part, Start, StartError
from setpoint.cli import cluster, quick

#: commands that start parts of a cluster, which should take no longer than it must
_STARTS: dict[str, tuple[Callable[[Any], None], type[Start | Part]]] = {
    "up": (cluster.up, Start),
    "component": (cluster.component, Part),
}


def main() -> NoReturn:
    """Run a command; a StartError is one line on standard error and exit code 1."""
    try:
        _run(sys.argv[1:])
    except StartError as error:
        if str(error):
            sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    sys.exit(0)


def _run(words: list[str]) -> None:
    if words and words[0] in _STARTS:
        command, record = _STARTS[words[0]]
        gc.disable()  # what a start makes stays; `app.run` has it collected and turns collections on once it is ready
        arguments = quick.arguments(flags.parameters(record), words[1:])
        if arguments is not None:
            command(flags.fill(record, arguments))
            return
    from setpoint.cli import commands

    commands.register_lazily(words)
    commands.app()
