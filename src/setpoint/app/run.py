"""From a command to running loops: foreground, detached, one part of a split cluster, and the end of each."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.app import certificates, pids
from setpoint.app.data_dir import DataDir
from setpoint.app.options import Options, StartError
from setpoint.kit import logs, processes, quick_imports

if TYPE_CHECKING:
    from setpoint.app.join import JoinOptions

_STOP_SECONDS = 40.0  # a pod may take its grace period of 30 s to end
_START_SECONDS = 60.0


def foreground(options: Options, log_level: str) -> None:
    """Run the cluster, or its one part that is asked for, until SIGINT or SIGTERM."""
    logs.configure(log_level)
    data = DataDir(options.data_dir)
    data.prepare()
    place = "controllers" if options.only == "controllers" else "up"
    _refuse_second(data, place)
    pids.claim(data.pid_file(place))
    try:
        if options.only == "controllers":
            from setpoint.app.remote import run_controllers_alone

            _run(lambda stop: run_controllers_alone(options, stop))
        elif options.split:
            from setpoint.app.split import run_split

            _run(lambda stop: run_split(options, log_level, started_at(), stop))
        else:
            made = certificates.begin(options)
            from setpoint.app.single import run_single

            made()
            _run(lambda stop: run_single(options, started_at(), stop))
    finally:
        pids.release(data.pid_file(place))


def component(name: str, data_dir: Path, log_level: str) -> None:
    """Run one part of a split cluster until SIGTERM."""
    from setpoint.app.split import read_options, run_component

    logs.configure(log_level)
    data = DataDir(data_dir)
    data.prepare()
    options = read_options(data)
    pids.claim(data.pid_file(name))
    quick_imports.aiohttp_without_system_files()
    try:
        _run(lambda stop: run_component(name, options, stop))
    finally:
        pids.release(data.pid_file(name))


def joined(joining: JoinOptions, log_level: str) -> None:
    """Be a node of another machine's cluster until SIGINT or SIGTERM."""
    from setpoint.app.join import run_joined

    logs.configure(log_level)
    DataDir(joining.options.data_dir).prepare()
    _run(lambda stop: run_joined(joining, stop))


def detached(options: Options) -> None:
    """Start `setpoint up` as a process of its own and return when it is ready; its output goes to the log file."""
    data = DataDir(options.data_dir)
    data.prepare()
    _refuse_second(data)
    command = [sys.executable, "-m", "setpoint", *(word for word in sys.argv[1:] if word != "--detach")]
    data.log_file.unlink(missing_ok=True)
    with open(data.log_file, "w", opener=_private, encoding="utf-8") as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        lines = data.log_file.read_text().splitlines()
        if any(line.startswith("ready in ") for line in lines):
            sys.stdout.write("\n".join(lines) + f"\nlog: {data.log_file}\n")
            return
        if child.poll() is not None:
            raise StartError(lines[-1].removeprefix("error: ") if lines else f"ended with code {child.returncode}")
        time.sleep(0.02)
    raise StartError(f"not ready after {_START_SECONDS:.0f} s, see {data.log_file}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_EXCL, 0o600)


def stop(data_dir: Path) -> None:
    """End the cluster of a data directory."""
    file = DataDir(data_dir).pid_file("up")
    if pids.holder(file) is None:
        raise StartError(f"nothing runs on {data_dir}")
    if not pids.stop(file, _STOP_SECONDS):
        raise StartError(f"still running after {_STOP_SECONDS:.0f} s: process {file.read_text().split()[0]}")
    sys.stdout.write("stopped\n")


def started_at() -> float:
    """When this process began, in seconds since the epoch: `ready in` counts from there."""
    return time.time() - processes.age()


def _refuse_second(data: DataDir, place: str = "up") -> None:
    if (other := pids.holder(data.pid_file(place))) is not None:
        raise StartError(f"data directory {data.root} is in use by process {other.pid}")


def _run(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run `main(stop)` on uvloop where there is one; `stop` is set by SIGINT or SIGTERM. StartErrors come out bare."""

    async def guarded() -> None:
        stop_event = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop_event.set)
        await main(stop_event)

    # The store's thread waits for the interpreter once per commit: 5 ms, as is usual, would be longer than the commit.
    sys.setswitchinterval(0.0005)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(guarded())
    except* StartError as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[StartError]) -> StartError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
