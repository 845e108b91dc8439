from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import ConfigMap, KeyToPath, Secret
from setpoint.node.runtime import ContainerError
from setpoint.node.volumes import host_path, payload, sub_path
from setpoint.node.volumes.payload import VolumeError


def test_a_sub_path_stays_inside_whatever_links_say(tmp_path: Path) -> None:
    volume = tmp_path / "v"
    volume.mkdir()
    (volume / "inside").mkdir()
    (volume / "out").symlink_to("/etc")
    (volume / "in").symlink_to("inside")
    assert sub_path.resolve(str(volume), "inside", mount="v") == str(volume / "inside")
    assert sub_path.resolve(str(volume), "in", mount="v") == str(volume / "inside")
    assert sub_path.resolve(str(volume), "made/here", mount="v") == str(volume / "made/here")
    assert (volume / "made/here").is_dir()
    for bad in ("out", "out/passwd", "../x", "/etc", "inside/../../x"):
        with pytest.raises(ContainerError):
            sub_path.resolve(str(volume), bad, mount="v")


def test_a_sub_path_is_made_with_the_mode_of_its_volume(tmp_path: Path) -> None:
    volume = tmp_path / "v"
    volume.mkdir()
    volume.chmod(0o777)
    sub_path.resolve(str(volume), "a/b", mount="v")
    assert (volume / "a").stat().st_mode & 0o777 == 0o777
    assert (volume / "a/b").stat().st_mode & 0o777 == 0o777, "a container that runs as another user writes there"


def test_host_paths_are_checked_by_type(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert host_path.prepare(str(tmp_path / "file"), "File")
    assert host_path.prepare(str(tmp_path / "made"), "DirectoryOrCreate")
    assert (tmp_path / "made").is_dir()
    with pytest.raises(VolumeError, match=r"hostPath type check failed: .*/file is not a directory"):
        host_path.prepare(str(tmp_path / "file"), "Directory")
    with pytest.raises(VolumeError, match="is not a socket file"):
        host_path.prepare(str(tmp_path / "none"), "Socket")


def test_items_choose_keys_and_modes() -> None:
    config = convert({"data": {"a": "1", "b": "2"}, "binaryData": {"c": "AAE="}}, ConfigMap)
    whole = payload.of_config_map("cfg", config, (), 0o644, optional=False)
    assert {path: file.content for path, file in whole.items()} == {"a": b"1", "b": b"2", "c": b"\x00\x01"}
    items = (KeyToPath(key="a", path="x/y", mode=0o400), KeyToPath(key="b", path="z"))
    chosen = payload.of_config_map("cfg", config, items, 0o640, optional=False)
    assert {path: file.mode for path, file in chosen.items()} == {"x/y": 0o400, "z": 0o640}


def test_what_is_missing_says_so_unless_it_is_optional() -> None:
    with pytest.raises(VolumeError, match='secret "s" not found'):
        payload.of_secret("s", None, (), 0o644, optional=False)
    assert payload.of_secret("s", None, (), 0o644, optional=True) == {}
    items = (KeyToPath(key="no", path="no"),)
    with pytest.raises(VolumeError, match="references non-existent secret key: no"):
        payload.of_secret("s", convert({"data": {}}, Secret), items, 0o644, optional=False)
    assert payload.of_secret("s", convert({"data": {}}, Secret), items, 0o644, optional=True) == {}
