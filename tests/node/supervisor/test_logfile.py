from __future__ import annotations

from pathlib import Path

from setpoint.node.supervisor.logfile import LONGEST_LINE, LineWriter, LogFile, timestamp


def _entries(path: Path) -> list[tuple[str, str, str]]:
    return [(stream, tag, text) for _, stream, tag, text in (line.split(" ", 3) for line in path.read_text().splitlines())]


def test_lines_wait_for_their_end(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "c" / "0.log"))
    writer = LineWriter(log, "stdout")
    writer.feed(b"one\ntwo")
    assert _entries(Path(log.path)) == [("stdout", "F", "one")]
    writer.feed(b" more\n\nrest")
    writer.finish()
    log.close()
    assert _entries(Path(log.path)) == [
        ("stdout", "F", "one"),
        ("stdout", "F", "two more"),
        ("stdout", "F", ""),
        ("stdout", "P", "rest"),
    ]


def test_long_lines_are_cut_into_parts(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"))
    writer = LineWriter(log, "stderr")
    writer.feed(b"x" * (2 * LONGEST_LINE + 5) + b"\n")
    log.close()
    entries = _entries(Path(log.path))
    assert [tag for _, tag, _ in entries] == ["P", "P", "F"]
    assert "".join(text for _, _, text in entries) == "x" * (2 * LONGEST_LINE + 5)


def test_rotation_keeps_the_newest_files(tmp_path: Path) -> None:
    log = LogFile(str(tmp_path / "0.log"), max_bytes=100, max_files=3)
    for number in range(20):
        log.write(f"{number:02d}".encode() * 20 + b"\n")
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.log", "0.log.1", "0.log.2"]
    assert (tmp_path / "0.log").read_text().startswith("18")
    assert (tmp_path / "0.log.1").read_text().startswith("16")
    assert (tmp_path / "0.log").stat().st_mode & 0o777 == 0o600


def test_timestamps_have_nanoseconds() -> None:
    assert timestamp(1_900_000_000_000_000_006) == "2030-03-17T17:46:40.000000006Z"
