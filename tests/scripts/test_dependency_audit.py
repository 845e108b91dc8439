"""What the dependency audit complains of."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    file = Path(__file__).parents[2] / "scripts" / "dependency_audit.py"
    spec = importlib.util.spec_from_file_location("dependency_audit", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_dependency_has_a_lower_bound_that_is_kept(audit: ModuleType) -> None:
    assert list(audit.bounds(["msgspec", "orjson>=1"])) == ["msgspec has no lower bound"]
    (complaint,) = audit.bounds(["msgspec>=99"])
    assert complaint.startswith("msgspec>=99 is installed as ")


def test_what_is_declared_is_imported_and_the_other_way_round(audit: ModuleType) -> None:
    imported = {"yaml": "a.py", "json": "b.py", "requests": "c.py"}
    assert list(audit.imports(["PyYAML>=6", "google-re2>=1"], imported)) == [
        "re2 is declared and nowhere imported",
        "requests is imported in c.py and not declared",
    ]


def test_licences_are_judged(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"a": "MIT License", "b": "GPL-3.0-only\nmore", "c": ""}
    monkeypatch.setattr(audit, "_licence", said.__getitem__)
    assert list(audit.licences(["a>=1", "b>=1", "c>=1"])) == ["b has the licence GPL-3.0-only"]


def test_without_advisories_there_is_a_notice(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit.shutil, "which", lambda *_, **__: None)
    assert audit.vulnerabilities() == []
    assert "were not looked for" in capsys.readouterr().out
