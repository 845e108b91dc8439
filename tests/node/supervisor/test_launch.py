from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from setpoint.node.supervisor import launch


def refused(*_: object) -> NoReturn:
    raise PermissionError


def test_a_directory_of_the_path_that_may_not_be_entered_is_no_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execvpe", refused)
    environment = {"PATH": f"{tmp_path}/closed:{tmp_path}"}
    with pytest.raises(FileNotFoundError):
        launch._execute(["tool"], environment)
    (tmp_path / "tool").write_text("no program")
    for name in ("tool", f"{tmp_path}/absent/tool"):
        with pytest.raises(PermissionError):
            launch._execute([name], environment)
