from __future__ import annotations

import os
from pathlib import Path

import pytest

from setpoint.node.volumes import atomic
from setpoint.node.volumes.atomic import File


def test_files_appear_through_one_link(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    assert atomic.write(str(folder), {"a": File(b"1", 0o644), "deep/b": File(b"2", 0o400)})
    assert (folder / "a").read_bytes() == b"1"
    assert (folder / "deep/b").read_bytes() == b"2"
    assert (folder / "a").readlink() == Path("..data/a")
    assert (folder / "deep/b").stat().st_mode & 0o777 == 0o400
    assert not atomic.write(str(folder), {"a": File(b"1", 0o644), "deep/b": File(b"2", 0o400)}), "nothing to do"


def test_an_update_replaces_all_at_once_and_leaves_nothing_old(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    atomic.write(str(folder), {"a": File(b"1", 0o644), "gone": File(b"x", 0o644)})
    before = (folder / "..data").readlink()
    held = os.open(folder / "a", os.O_RDONLY)
    assert atomic.write(str(folder), {"a": File(b"2", 0o600), "new": File(b"3", 0o644)})
    assert os.read(held, 10) == b"1", "who reads the old file goes on reading it"
    os.close(held)
    assert (folder / "..data").readlink() != before
    assert (folder / "a").read_bytes() == b"2"
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith("..")) == ["a", "new"]
    assert not (folder / before).exists()


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "..data", "a/.."])
def test_paths_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(atomic.UnsafePath):
        atomic.write(str(tmp_path / "v"), {path: File(b"", 0o644)})
    assert sorted(entry.name for entry in tmp_path.iterdir()) in ([], ["v"])


def test_a_link_that_is_not_ours_leads_nowhere(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    for target in (str(other), "..", "../other", "x/.."):
        folder = tmp_path / "v"
        folder.mkdir(exist_ok=True)
        (folder / "..data").unlink(missing_ok=True)
        (folder / "..data").symlink_to(target)
        assert atomic.write(str(folder), {"a": File(b"1", 0o644)})
    assert (other / "kept").exists()


def test_a_writer_that_was_killed_before_the_links_is_made_up_for(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    atomic.write(str(folder), {"a": File(b"1", 0o644)})
    (folder / "a").unlink()
    atomic.write(str(folder), {"a": File(b"1", 0o644)})
    assert (folder / "a").read_bytes() == b"1"
