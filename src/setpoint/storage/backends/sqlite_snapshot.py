"""Snapshots of a SQLite store: one private file, taken while the server runs, that can be verified and restored.

A snapshot is a database of its own: the rows of the store as they were at one revision, and a digest of them. SQLite's backup
reads them in one transaction, so it is consistent whatever is written meanwhile, and holds nobody up.

What is restored is older than what clients may have seen. So that no revision is given twice, the counter goes on far beyond
(`BUMP`), and history before that counts as compacted: clients that resume a watch are told to list again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from setpoint.storage.backends.sqlite import MIGRATIONS
from setpoint.storage.backends.sqlite_files import StoreFiles, verified
from setpoint.storage.protocol import StoreError

#: how many revisions a restored store leaves out; a server that writes 4,000 times a second needs three days for as many
BUMP = 1_000_000_000
_ABOUT = "CREATE TABLE snapshot (revision INTEGER NOT NULL, taken REAL NOT NULL, digest TEXT NOT NULL) STRICT"
_ROWS = "SELECT revision, key, created, expires, value, checksum FROM log ORDER BY revision"


class Snapshot(Struct, frozen=True):
    """What a snapshot holds. `taken` is seconds since the epoch, `digest` SHA-256 of the rows in hexadecimal."""

    revision: int
    objects: int
    rows: int
    bytes: int
    taken: float
    digest: str


def save(directory: Path, file: Path) -> Snapshot:
    """Write a snapshot of the store in `directory`, in use or not, to `file`, which must not exist; raises StoreError."""
    files = StoreFiles(directory)
    if not files.database.exists():
        raise StoreError(f"there is no store in {directory}")
    if file.exists():
        raise StoreError(f"{file} exists")
    unfinished = file.with_name(f".{file.name}.part")
    with _explained(files.database), _private(unfinished):
        with closing(files.reader()) as source, closing(sqlite3.connect(unfinished)) as target:
            source.backup(target)
            _describe(target)
        found = verify(unfinished)
        _sync(unfinished)
        unfinished.rename(file)
        _sync(file.parent)
    return found


def _describe(target: sqlite3.Connection) -> None:
    target.execute("PRAGMA journal_mode=DELETE")
    with target:
        target.execute(_ABOUT)
        revision = _revision(target)
        target.execute("INSERT INTO snapshot VALUES (?, ?, ?)", (revision, time.time(), _digest(target)))


def verify(file: Path) -> Snapshot:
    """Read all of a snapshot and compare it with its digest; raises StoreError that says what is wrong."""
    if not file.is_file():
        raise StoreError(f"there is no snapshot {file}")
    with _explained(file), closing(_reader(file)) as source:
        return _verified(source, file)


def _verified(source: sqlite3.Connection, file: Path) -> Snapshot:
    if source.execute("SELECT 1 FROM sqlite_schema WHERE name = 'snapshot'").fetchone() is None:
        raise StoreError(f"{file} is no snapshot")
    (version,) = source.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StoreError(f"snapshot {file} was written by a newer version of setpoint")
    (health,) = source.execute("PRAGMA integrity_check(1)").fetchone()
    if health != "ok":
        raise StoreError(f"snapshot {file} is corrupted: {health}")
    revision, taken, digest = source.execute("SELECT revision, taken, digest FROM snapshot").fetchone()
    rows, damaged = verified(source.execute(_ROWS))
    if damaged or _digest(source) != digest:
        raise StoreError(f"snapshot {file} is corrupted: it does not have its digest")
    live: dict[str, bool] = {}
    for row in rows:
        live[row[1]] = row[4] is not None
    return Snapshot(revision, sum(live.values()), len(rows), file.stat().st_size, taken, digest)


def restore(file: Path, directory: Path, *, force: bool = False, bump: int = BUMP) -> Snapshot:
    """Make the store in `directory` what the snapshot holds; raises StoreError.

    A store that is in use is refused, and one that has data too unless forced: then what was there is kept beside it.
    """
    found = verify(file)
    files = StoreFiles(directory)
    try:
        files.hold()
        if not force and any(path.exists() for path in _parts(files)):
            raise StoreError(f"there is a store in {directory}; --force replaces it and keeps the old files beside it")
        with _explained(directory):
            _fill(file, files, found.revision + bump)
        files.remember_use()
    except OSError as error:
        raise StoreError(f"data directory {directory} cannot be used: {error.strerror}") from error
    finally:
        files.release()
    return found


def _fill(file: Path, files: StoreFiles, floor: int) -> None:
    """What was there goes aside only when what replaces it is whole on the disk."""
    fresh = files.beside(".restored")
    with _private(fresh):
        with closing(_reader(file)) as source, closing(sqlite3.connect(fresh)) as target:
            source.backup(target)
            with target:
                target.execute("DROP TABLE snapshot")
                target.execute("UPDATE history SET floor = max(floor, ?)", (floor,))
        _sync(fresh)
        _set_aside(files)
        fresh.rename(files.database)
        _sync(files.directory)


def _parts(files: StoreFiles) -> list[Path]:
    return [files.database, files.beside("-wal"), files.beside("-shm"), files.beside("-journal")]


def _set_aside(files: StoreFiles) -> None:
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    for path in _parts(files):
        if path.exists():
            path.rename(path.with_name(f"replaced-{moment}-{path.name}"))


def _revision(source: sqlite3.Connection) -> int:
    (newest,) = source.execute("SELECT max((SELECT floor FROM history), coalesce((SELECT max(revision) FROM log), 0))").fetchone()
    return int(newest)


def _digest(source: sqlite3.Connection) -> str:
    """SHA-256 of the rows and of where history begins."""
    digest = hashlib.sha256(str(source.execute("SELECT floor FROM history").fetchone()[0]).encode())
    for revision, key, created, expires, value, _ in source.execute(_ROWS):
        digest.update(f"\n{revision} {key} {created} {expires!r} {-1 if value is None else len(value)} ".encode())
        digest.update(value or b"")
    return digest.hexdigest()


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """What goes wrong in it becomes a StoreError of one line."""
    try:
        yield
    except sqlite3.Error as error:
        damaged = getattr(error, "sqlite_errorname", "") in {"SQLITE_NOTADB", "SQLITE_CORRUPT"}
        raise StoreError(f"{file} {'is corrupted' if damaged else 'cannot be used'}: {error}") from error
    except OSError as error:
        raise StoreError(f"{error.filename or file}: {error.strerror}") from error


@contextmanager
def _private(unfinished: Path) -> Iterator[None]:
    """A new file that only its owner may read; gone again unless it was renamed."""
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        yield
    finally:
        unfinished.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reader(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1", uri=True)
