from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from setpoint.app.kubeconfig import merge_into

OURS: dict[str, Any] = {
    "clusters": [{"name": "setpoint", "cluster": {"server": "https://here"}}],
    "users": [{"name": "setpoint-admin", "user": {}}],
    "contexts": [{"name": "setpoint", "context": {"cluster": "setpoint", "user": "setpoint-admin"}}],
    "current-context": "setpoint",
}


def test_what_others_have_put_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "config"
    theirs = {"name": "theirs", "cluster": {"server": "https://there"}}
    file.write_text(yaml.safe_dump({"clusters": [theirs, {"name": "setpoint"}], "users": None}))
    merge_into(file, OURS)
    merged = yaml.safe_load(file.read_text())
    assert merged["clusters"] == [theirs, *OURS["clusters"]]
    assert merged["current-context"] == "setpoint"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "config"
    link.symlink_to(tmp_path / "real" / "config")
    merge_into(link, OURS)
    assert link.is_symlink()
    assert yaml.safe_load((tmp_path / "real" / "config").read_text())["users"] == OURS["users"]


@pytest.mark.parametrize("text", ["a: [", "- a list"])
def test_what_is_no_kubeconfig_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ValueError, match="config"):
        merge_into(file, OURS)
    assert file.read_text() == text
