"""What the agent must know of its pods without an API server: one private directory per pod.

    <node>/pods/<uid>/pod.json      the pod as last seen          launch/<container>.json   a container's resolved environment
    <node>/pods/<uid>/state.json    attempts, ends, backoffs      and what the runtime, the volumes and the logs keep there

Everything is 0600 under 0700: environments hold secrets. Files are replaced by rename.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from setpoint.api.types.base import decode
from setpoint.api.types.core_v1 import Pod

_POD, _STATE = "pod.json", "state.json"


class Checkpoints:
    """The pods' directories under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root / "pods"
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._written: dict[str, bytes] = {}

    def directory(self, pod_uid: str) -> str:
        return str(self.root / pod_uid)

    def uids(self) -> Iterator[str]:
        for entry in sorted(self.root.iterdir()):
            if (entry / _POD).exists():
                yield entry.name

    def load(self, pod_uid: str) -> tuple[Pod, Mapping[str, Any] | None] | None:
        """The pod and the state of its worker; None when the files are not readable."""
        folder = self.root / pod_uid
        try:
            pod = decode((folder / _POD).read_bytes(), Pod)
        except (OSError, msgspec.DecodeError):
            return None
        try:
            state: Mapping[str, Any] = msgspec.json.decode((folder / _STATE).read_bytes())
        except (OSError, msgspec.DecodeError):
            return pod, None
        return pod, state

    def save_pod(self, pod: Pod) -> None:
        folder = self.root / pod.metadata.uid
        folder.mkdir(mode=0o700, exist_ok=True)
        self._write(folder / _POD, msgspec.json.encode(pod))

    def save_state(self, pod_uid: str, state: Mapping[str, Any]) -> None:
        folder = self.root / pod_uid
        if folder.exists():
            self._write(folder / _STATE, msgspec.json.encode(state))

    def save_launch(self, pod_uid: str, container: str, environment: Mapping[str, str]) -> None:
        folder = self.root / pod_uid / "launch"
        folder.mkdir(mode=0o700, exist_ok=True)
        self._write(folder / f"{container}.json", msgspec.json.encode(dict(environment)))

    def load_launch(self, pod_uid: str, container: str) -> dict[str, str] | None:
        """The environment that a container was last started with."""
        try:
            content = (self.root / pod_uid / "launch" / f"{container}.json").read_bytes()
        except OSError:
            return None
        return msgspec.json.decode(content, type=dict[str, str])

    def remove(self, pod_uid: str) -> None:
        """No later agent takes the pod up again. The rest of its directory is the caller's to remove; if that is killed over it,
        the next start does.
        """
        folder = self.root / pod_uid
        for path in [path for path in self._written if path.startswith(str(folder) + "/")]:
            del self._written[path]
        (folder / _POD).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove the directories of pods that were removed."""
        for entry in list(self.root.iterdir()):
            if not (entry / _POD).exists():
                shutil.rmtree(entry, ignore_errors=True)

    def _write(self, path: Path, content: bytes) -> None:
        """Replace the file unless it holds the same already."""
        if self._written.get(str(path)) == content:
            return
        temporary = path.with_name(path.name + ".new")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
        temporary.replace(path)
        self._written[str(path)] = content
