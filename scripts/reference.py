"""The pages under `docs/reference`, written from the code: commands, metrics, and what Python programs import.

python scripts/reference.py            # writes them
python scripts/reference.py --check    # says which are not what the code says, and fails
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

import setpoint
from setpoint.cli import commands
from setpoint.kit import metrics

ROOT = Path(__file__).parents[1]
SOURCE, PAGES = ROOT / "src", ROOT / "docs" / "reference"
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
MADE = "<!-- Written by scripts/reference.py. Change the code, and run it again. -->"
#: what a program that uses Setpoint imports, in the order in which it meets it
MODULES = {
    "Clients and controllers": (
        "setpoint.client.client",
        "setpoint.client.transports.http",
        "setpoint.client.kubeconfig",
        "setpoint.client.factory",
        "setpoint.client.informer",
        "setpoint.client.store",
        "setpoint.client.reflector",
        "setpoint.client.controller",
        "setpoint.client.workqueue",
        "setpoint.client.expectations",
        "setpoint.client.events",
        "setpoint.client.leader",
    ),
    "Time and tasks": ("setpoint.kit.clock", "setpoint.kit.tasks"),
    "Tests": ("setpoint.testing.real", "setpoint.testing.cluster"),
    "Scheduler plugins": ("setpoint.scheduler.framework", "setpoint.scheduler.status"),
}


def main(check: bool) -> int:
    """0, or 1 where `check` finds a page that is not what the code says."""
    pages = {"commands.md": _commands, "metrics.md": _metrics, "python.md": _python}
    stale = []
    PAGES.mkdir(exist_ok=True)
    for name, write in pages.items():
        text = "\n".join([MADE, "", *write()]).rstrip() + "\n"
        file = PAGES / name
        if check and (not file.exists() or file.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not check:
            file.write_text(text, encoding="utf-8")
    for name in stale:
        sys.stderr.write(f"docs/reference/{name} is not what the code says: run scripts/reference.py\n")
    return 1 if stale else 0


# -- commands


def _commands() -> Iterator[str]:
    yield from ("# Commands", "", "`setpoint COMMAND --help` says the same.", "")
    commands.register_lazily([])
    root = typer.main.get_command(commands.app)
    yield from _command_group(root, "setpoint")


def _command_group(group: Any, path: str) -> Iterator[str]:
    for name, command in getattr(group, "commands", {}).items():
        if command.hidden:
            continue
        words = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from _command_group(command, words)
            continue
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        shown = " ".join([words, *(_argument(each) for each in arguments)])
        yield from (f"## {words}", "", f"    {shown}", "", inspect.cleandoc(command.help or ""), "")
        yield from _options([each for each in command.params if each.param_type_name == "option" and not each.hidden])


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name or "").strip("[]").upper()
    many = "…" if argument.nargs != 1 else ""
    return f"{name}{many}" if argument.required else f"[{name}{many}]"


def _options(options: list[Any]) -> Iterator[str]:
    """One table for each panel of the help."""
    panels: dict[str, list[Any]] = {}
    for option in options:
        panels.setdefault(getattr(option, "rich_help_panel", None) or "", []).append(option)
    for panel, members in panels.items():
        if panel:
            yield from (f"### {panel}", "")
        yield from ("| option | | default |", "|---|---|---|")
        for option in members:
            names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
            yield f"| {names} | {_cell(option.help or '')} | {_default(option)} |"
        yield ""


def _default(option: Any) -> str:
    default = option.default
    if default is None or default in {"", ()} or callable(default) or (option.is_flag and not option.secondary_opts):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


# -- metrics


def _metrics() -> Iterator[str]:
    for module in pkgutil.walk_packages(setpoint.__path__, "setpoint."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    yield from (
        "# Metrics",
        "",
        "`kubectl get --raw /metrics` gives those of the process that answers; with `--split` each part has its own.",
        "",
    )
    yield from ("| metric | type | labels | |", "|---|---|---|---|")
    for family in sorted(metrics.families(), key=lambda each: each.name):
        suffix = "_total" if family.kind == "counter" and not family.name.endswith("_count") else ""
        labels = ", ".join(f"`{label}`" for label in family.label_names)
        yield f"| `{family.name}{suffix}` | {family.kind} | {labels} | {_cell(family.text)} |"


# -- Python


def _python() -> Iterator[str]:
    yield from ("# Python", "", "What programs import: [Setpoint in tests](../how-to/tests.md) shows it at work.", "")
    for title, modules in MODULES.items():
        yield from (f"## {title}", "")
        for name in modules:
            module = ast.parse(SOURCE.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
            yield from (f"### {name}", "", ast.get_docstring(module) or "", "")
            for member in module.body:
                yield from _described(member)


def _described(member: ast.stmt) -> Iterator[str]:
    """A public class with its methods, or a function; as it is written, since a default that was computed says too much."""
    if isinstance(member, _FUNCTION) and not member.name.startswith("_"):
        yield from (f"#### `{_function(member)}`", "", ast.get_docstring(member) or "", "")
    elif isinstance(member, ast.ClassDef) and not member.name.startswith("_"):
        yield from (f"#### class `{member.name}{_made_with(member)}`", "", ast.get_docstring(member) or "", "")
        methods = [each for each in member.body if isinstance(each, _FUNCTION) and not each.name.startswith("_")]
        documented = [(each, text) for each in methods if (text := ast.get_docstring(each))]
        yield from (f"- `{_function(each)}`: {_cell(text)}" for each, text in documented)
        yield from [""] if documented else []


def _made_with(member: ast.ClassDef) -> str:
    """What an instance is made with: the parameters of `__init__`, or a record's fields."""
    for each in member.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return f"({_parameters(each)})"
    if not any(isinstance(base, ast.Name) and base.id == "Struct" for base in member.bases):
        return ""
    fields = [each for each in member.body if isinstance(each, ast.AnnAssign) and not ast.unparse(each.target).startswith("_")]
    return f"({', '.join(ast.unparse(each) for each in fields)})"


def _function(member: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = {ast.unparse(each) for each in member.decorator_list}
    returns = f" -> {ast.unparse(member.returns)}" if member.returns and ast.unparse(member.returns) != "None" else ""
    if decorators & {"property", "cached_property"}:
        return f"{member.name}{returns}"
    awaited = "await " if isinstance(member, ast.AsyncFunctionDef) and " -> Async" not in returns else ""
    return f"{awaited}{member.name}({_parameters(member)}){returns}"


def _parameters(member: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    parameters = ast.unparse(member.args)
    return ", ".join(part for part in parameters.split(", ") if part not in {"self", "cls"})


def _cell(text: str) -> str:
    """The same as one line of a table or list."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
