from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from setpoint.apiserver.audit.log_file import LogFile, Rotation, opened


def log_file(path: Path, rotation: Rotation = Rotation()) -> LogFile:  # noqa: B008  it is frozen
    return LogFile(str(path), rotation, opened(str(path)))


def listed(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def test_a_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.log"
    file = log_file(path)
    file.append(b"a\n")
    file.append(b"b\n")
    file.close()
    assert path.read_bytes() == b"a\nb\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text("before\n")
    path.chmod(0o644)
    file = log_file(path)
    file.append(b"after\n")
    file.close()
    assert path.read_text() == "before\nafter\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_are_rotated_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for _ in range(6):
        file = log_file(path, Rotation(megabytes=1, backups=2))
        for _ in range(6):
            file.append(b"x" * 150_000 + b"\n")
        file.close()
    files = listed(tmp_path)
    assert len(files) == 3
    assert all(each.name.startswith("audit-2") for each in files if each != path)
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    assert all(each.stat().st_size <= 1024 * 1024 for each in files)


def test_old_files_go_by_age(tmp_path: Path) -> None:
    path, old = tmp_path / "audit.log", tmp_path / "audit-2020-01-01T00-00-00.000.log"
    old.write_text("old\n")
    os.utime(old, (0, 0))
    path.write_bytes(b"x" * 1024 * 1024)
    file = log_file(path, Rotation(megabytes=1, days=3))
    file.append(b"new\n")
    file.close()
    assert not old.exists()
    assert path.read_text() == "new\n"


def test_a_rotation_that_failed_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"x" * 1024 * 1024)
    file = log_file(path, Rotation(megabytes=1))
    with monkeypatch.context() as patched:
        patched.setattr("setpoint.apiserver.audit.log_file._appending", no_room)
        with pytest.raises(OSError, match="No space left"):
            file.append(b"lost\n")
    file.append(b"kept\n")
    file.close()
    assert path.read_bytes() == b"kept\n"


def test_a_line_that_does_not_fit_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    file = log_file(path)
    file.append(b"whole\n")
    write = os.write
    room = [3]

    def short(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: room.pop()]) if room else no_room()

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", short)
        with pytest.raises(OSError, match="No space left"):
            file.append(b"half\n")
    file.append(b"next\n")
    file.close()
    assert path.read_bytes() == b"whole\nnext\n"


def no_room(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
