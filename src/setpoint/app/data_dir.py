"""The layout of a data directory, the one place that knows it. Everything in it is private to the server's user.

store.db            the store           pki/                certificates and keys
admin.kubeconfig    for people          components/         kubeconfigs of the parts
nodes/<name>/       a node's pods       run/<part>.pid      who runs, `address` where the API server listens
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from setpoint.apiserver.pki import write_private
from setpoint.app.options import StartError


class DataDir(Struct, frozen=True):
    """Paths under one data directory."""

    root: Path

    def prepare(self) -> None:
        """Make the directory; raises StartError when it cannot be written."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in ("pki", "components", "nodes", "run"):
                _private(self.root / name)
            probe = self.root / "run" / f".probe-{os.getpid()}"
            probe.touch(mode=0o600)
            probe.unlink()
        except (FileExistsError, NotADirectoryError):
            raise StartError(f"data directory {self.root} is not a directory") from None
        except OSError as error:
            raise StartError(f"data directory {self.root} cannot be written: {error.strerror}") from error

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def front_proxy(self) -> Path:
        """The CA of those that may speak for others (`X-Remote-*` headers), and what it signed."""
        return self.root / "pki" / "front-proxy"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.root / "admin.kubeconfig"

    @property
    def address_file(self) -> Path:
        return self.root / "run" / "address"

    def last_port(self) -> int:
        """The port that the API server had last; 0 for none."""
        try:
            return int((self.root / "run" / "port").read_text())
        except (OSError, ValueError):
            return 0

    def remember_port(self, port: int) -> None:
        write_private(self.root / "run" / "port", f"{port}\n".encode())

    @property
    def log_file(self) -> Path:
        return self.root / "setpoint.log"

    def component_kubeconfig(self, name: str) -> Path:
        return self.root / "components" / f"{name}.kubeconfig"

    def node(self, name: str) -> Path:
        return self.root / "nodes" / name

    def pid_file(self, part: str) -> Path:
        return self.root / "run" / f"{part}.pid"


def _private(directory: Path) -> None:
    """Make it, or take what is there from others' eyes."""
    directory.mkdir(exist_ok=True, mode=0o700)
    if stat.S_IMODE(directory.stat().st_mode) & 0o077:
        directory.chmod(0o700)
