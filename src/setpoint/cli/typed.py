"""Commands of typer whose options are the flags of a record (see `app.flags`)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, TypeVar

import typer
from msgspec import Struct
from typer.core import TyperCommand

from setpoint.app import flags
from setpoint.app.flags import Parameter

_Record = TypeVar("_Record", bound=Struct)


class Panelled(TyperCommand):
    """A command whose help has the options of each panel under its name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            shown = each.get_help_record(ctx)
            if shown is not None:
                kind = "Arguments" if each.param_type_name == "argument" else "Options"
                panels.setdefault(getattr(each, "rich_help_panel", None) or kind, []).append(shown)
        for panel, lines in panels.items():
            with formatter.section(panel):
                formatter.write_dl(lines)


def add(app: typer.Typer, function: Callable[[_Record], None], record: type[_Record], *, hidden: bool = False) -> None:
    """Make a function of a record a command of the same name."""

    def run(**given: Any) -> None:
        function(flags.fill(record, given))

    arguments = [_argument(name, each) for name, each in flags.parameters(record).items()]
    # where typer looks for the parameters, and for their types
    run.__signature__ = Signature(arguments)  # type: ignore[attr-defined]  # any function may have one
    run.__annotations__ = {each.name: each.annotation for each in arguments}
    app.command(function.__name__, cls=Panelled, help=function.__doc__, hidden=hidden)(run)


def _argument(name: str, parameter: Parameter) -> Argument:
    flag, kind, default = parameter.flag, parameter.kind, parameter.default
    if parameter.required:
        default = ...
    elif isinstance(default, tuple):
        default = ",".join(default) if kind is str else None
    if not flag.name.startswith("--"):
        said: Any = typer.Argument(default, help=flag.help)
    else:
        said = typer.Option(
            default,
            flag.name if kind is not bool or default is False else f"{flag.name}/--no-{flag.name.removeprefix('--')}",
            help=flag.help,
            min=flag.least,
            max=flag.most,
            envvar=flag.environment or None,
            metavar="<path>" if flag.read is flags.absolute else None,
            show_default=default not in {None, "", ...},
            rich_help_panel=flag.panel or None,
        )
    annotation = kind if default is not None else kind | None
    return Argument(name, Argument.KEYWORD_ONLY, default=said, annotation=annotation)
