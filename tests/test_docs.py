"""What the pages and the code's own comments point to is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from setpoint.app import flags
from setpoint.app.options import Join, Start, Stop

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
COMMANDS: dict[str, type[Struct]] = {"up": Start, "node": Join, "down": Stop}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", page.read_text())
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


def test_files_that_comments_name_exist() -> None:
    lost = [
        f"{_name(file)}: {named}"
        for file in (ROOT / "src").rglob("*.py")
        for named in re.findall(r"(?<![\w/.-])(?:docs|tests|scripts|benchmarks)/[\w./-]+\.\w+", file.read_text())
        if not (ROOT / named).exists()
    ]
    assert lost == []


def _used(page: Path) -> Iterator[tuple[str, str]]:
    """The options that a page's command lines give to commands of ours."""
    for command, rest in re.findall(r"(?:^|[ `])setpoint (up|node|down)\b([^`\n]*)", page.read_text(), re.MULTILINE):
        for option in re.findall(r"--([a-z][a-z0-9-]*)", rest.partition("#")[0]):
            yield command, option


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_options_exist(page: Path) -> None:
    known = {command: {name.replace("_", "-") for name in flags.parameters(record)} for command, record in COMMANDS.items()}
    assert [pair for pair in _used(page) if pair[1].removeprefix("no-") not in known[pair[0]]] == []
