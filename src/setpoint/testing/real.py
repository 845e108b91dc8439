"""A real cluster as a process of its own, and stock kubectl to talk to it: what end-to-end tests stand on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from setpoint.app import pids

START_SECONDS = 30
KUBECTL = os.environ.get("SETPOINT_KUBECTL", "kubectl")
"""The program to test with, where it is not the one on the path."""


@dataclass
class Kubectl:
    """Runs kubectl with one kubeconfig; a call returns standard output and fails the test when kubectl does."""

    kubeconfig: Path
    home: Path
    prefix: Sequence[str] = ()

    def __call__(self, *arguments: str, stdin: str | None = None, check: bool = True, seconds: float = 60) -> str:
        done = self.run(*arguments, stdin=stdin, seconds=seconds)
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, KUBECTL, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env=self.environment,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A kubectl that goes on (`-w`, `-f`); the test ends it."""
        return subprocess.Popen(
            [*self.prefix, KUBECTL, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(self.home),
            "KUBECACHEDIR": str(self.home / "cache"),
        }


@dataclass
class Cluster:
    """`setpoint up` with its own data directory."""

    data_dir: Path
    arguments: Sequence[str]
    process: subprocess.Popen[str] | None = None
    log: IO[str] | None = None
    prefix: Sequence[str] = ()
    python: str = sys.executable
    restarted: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start and wait for `ready in`."""
        command = [*self.prefix, self.python, "-m", "setpoint", "up", "--data-dir", str(self.data_dir), *self.arguments]
        if self.log is not None:
            self.log.close()
        self.log = self._log_file.open("a+")
        self.log.seek(0, os.SEEK_END)
        start = self.log.tell()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, text=True)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            text = self.text(start)
            if "\nready in " in f"\n{text}":
                return
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}:\n{text}")
            time.sleep(0.02)
        raise AssertionError(f"not ready:\n{self.text(start)}")

    def text(self, start: int = 0) -> str:
        """What it printed."""
        with self._log_file.open() as file:
            file.seek(start)
            return file.read()

    def stop(self) -> None:
        """SIGTERM, as a person would; the second time it does nothing."""
        for part in self.restarted:
            part.terminate()
            part.wait(40)
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log is not None:
            self.log.close()

    def kill(self) -> None:
        """SIGKILL of that process alone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def kill_all(self) -> None:
        """SIGKILL of every part, as far as possible at once; supervisors and pods' processes stay."""
        parts = [psutil.Process(self.process.pid)] if self.process is not None else []
        parts += [part for file in (self.data_dir / "run").glob("*.pid") if (part := pids.holder(file)) is not None]
        for part in parts:
            with contextlib.suppress(psutil.NoSuchProcess):
                part.suspend()
        for part in parts:
            with contextlib.suppress(psutil.NoSuchProcess):
                part.kill()
        if self.process is not None:
            self.process.wait()

    def part(self, name: str) -> psutil.Process:
        """A part of a `--split` cluster."""
        found = pids.holder(self.data_dir / "run" / f"{name}.pid")
        if found is None:
            raise AssertionError(f"{name} does not run")
        return found

    def kill_part(self, name: str) -> None:
        self.part(name).kill()

    def stop_part(self, name: str) -> None:
        """SIGTERM, and wait for the end."""
        part = self.part(name)
        part.terminate()
        psutil.wait_procs([part], 30)

    def kill_node(self, name: str) -> None:
        """SIGKILL of an agent, its supervisors and their processes, as a power cut would."""
        agent = self.part(name)
        directory = str(self.data_dir / "nodes" / name)
        agent.suspend()
        below = [*agent.children(recursive=True), *(found for found in psutil.process_iter() if _names(found, directory))]
        below += [child for found in below for child in _children(found)]
        for process in [agent, *below]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def start_part(self, name: str) -> None:
        """Start a part again; it ends with the cluster."""
        command = [*self.prefix, self.python, "-m", "setpoint", "component", name, "--data-dir", str(self.data_dir)]
        self.restarted.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log))

    @property
    def _log_file(self) -> Path:
        return self.data_dir.parent / f"{self.data_dir.name}.log"

    @property
    def kubeconfig(self) -> Path:
        return self.data_dir / "admin.kubeconfig"


def eventually(check: Callable[[], bool], seconds: float = 20, pause: float = 0.1) -> None:
    """Wait until `check()` holds; fail the test when it does not."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(pause)


def _names(process: psutil.Process, directory: str) -> bool:
    """Whether a process was started for a directory: a supervisor names its own in its command line."""
    try:
        return any(directory in word for word in process.cmdline())
    except (psutil.Error, OSError):
        return False


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def processes_of(name: str, value: str) -> list[psutil.Process]:
    """Living processes whose environment has `name=value`, oldest first: how a test finds the processes of its pods."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(name) == value and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return sorted(found, key=lambda process: process.create_time())
