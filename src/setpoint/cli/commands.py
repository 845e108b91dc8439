"""The commands of `setpoint`: one file per command; this one only names them.

Commands import what they need when they run, so that `setpoint up` does not pay for `setpoint get`.
"""

from __future__ import annotations

from importlib import import_module

import typer

from setpoint import __version__
from setpoint.cli import cluster

app = typer.Typer(
    name="setpoint",
    help="Kubernetes' declarative control plane as a Python package.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
cluster.register(app)

#: commands that talk to a server: name → module and function, imported when one of them is run
_LAZY = {
    "get": ("get", "get"),
    "events": ("get", "events"),
    "apply": ("apply", "apply"),
    "diff": ("apply", "diff"),
    "delete": ("apply", "delete"),
    "logs": ("streams", "logs"),
    "exec": ("streams", "execute"),
    "scale": ("workloads", "scale"),
    "rollout": ("workloads", "rollout"),
    "wait": ("workloads", "wait"),
    "snapshot": ("snapshot", "snapshot"),
    "demo": ("demo.command", "demo"),
}


@app.command()
def version() -> None:
    """Print the version of this package."""
    typer.echo(f"setpoint {__version__}")


def register_lazily(words: list[str]) -> None:
    """Add the commands that this run can need: the one named, or all of them for the help."""
    named = next((word for word in words if not word.startswith("-")), "")
    wanted = [named] if named in _LAZY else [] if named in ("up", "down", "component", "node", "version") else list(_LAZY)
    for name in wanted:
        module, function = _LAZY[name]
        command = getattr(import_module(f"setpoint.cli.{module}"), function)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
