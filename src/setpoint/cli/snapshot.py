"""`setpoint snapshot`: save, verify and restore all that the API server knows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from setpoint.app import pids
from setpoint.app.data_dir import DataDir
from setpoint.app.options import StartError, default_data_dir
from setpoint.storage.backends import sqlite_snapshot
from setpoint.storage.backends.sqlite_snapshot import Snapshot
from setpoint.storage.protocol import StoreError

snapshot = typer.Typer(help="Save, verify and restore all that the API server knows.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The snapshot.", show_default=False)]
Directory = Annotated[Path | None, typer.Option("--data-dir", help="Where everything is kept.", show_default=False)]


@snapshot.command()
def save(file: File, data_dir: Directory = None) -> None:
    """Write a snapshot to FILE, whether or not the server runs."""
    _run(lambda: sqlite_snapshot.save(_data(data_dir).store, file.absolute()), f"saved {file}")


@snapshot.command()
def verify(file: File) -> None:
    """Read all that FILE holds and compare it with the digest of its contents."""
    _run(lambda: sqlite_snapshot.verify(file.absolute()), f"{file} is whole")


@snapshot.command()
def restore(
    file: File,
    data_dir: Directory = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a store that has data; the old files are kept beside it.")
    ] = False,
    bump_revision: Annotated[int, typer.Option(min=0, help="How many revisions to leave out, so that none is used twice.")] = (
        sqlite_snapshot.BUMP
    ),
) -> None:
    """Fill a data directory from FILE. The server must not run."""
    data = _data(data_dir)
    if (other := pids.holder(data.pid_file("up"))) is not None:
        raise StartError(f"data directory {data.root} is in use by process {other.pid}")
    data.prepare()
    _run(
        lambda: sqlite_snapshot.restore(file.absolute(), data.store, force=force, bump=bump_revision),
        f"restored {file} to {data.root}",
    )


def _data(chosen: Path | None) -> DataDir:
    return DataDir((chosen or default_data_dir()).absolute())


def _run(work: Callable[[], Snapshot], done: str) -> None:
    """Do it and print what the snapshot holds; a StoreError becomes the one line of a StartError."""
    try:
        found = work()
    except StoreError as error:
        raise StartError(str(error)) from error
    taken = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.taken))
    sys.stdout.write(
        f"{done}\n"
        f"revision: {found.revision}\nobjects:  {found.objects}\nwrites:   {found.rows}\n"
        f"size:     {found.bytes} bytes\ntaken:    {taken}\ncontents: sha256 {found.digest}\n"
    )
