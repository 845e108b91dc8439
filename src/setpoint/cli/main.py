"""The command `setpoint`: one file per command; this one only names them.

Commands import what they need when they run, so that `setpoint up` does not pay for `setpoint get`.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from setpoint import __version__
from setpoint.app.options import StartError
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


@app.command()
def version() -> None:
    """Print the version of this package."""
    typer.echo(f"setpoint {__version__}")


def main() -> NoReturn:
    """Run a command; a StartError is one line on standard error and exit code 1."""
    try:
        app()
    except StartError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    sys.exit(0)
