"""What the supervisor writes down: who it is, and what became of each container.

One JSON file per container, replaced by rename, so that a reader sees the old state or the new one. The agent reads these files
when the supervisor is gone.
"""

from __future__ import annotations

import json
import os
from typing import Any

SUPERVISOR = "supervisor.json"
SOCKET = "supervisor.sock"
CONTAINERS = "containers"


def write(path: str, value: dict[str, Any]) -> None:
    """Replace `path` by `value`; on disk in full or not at all."""
    temporary = path + ".new"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(temporary, path)


def read(path: str) -> dict[str, Any] | None:
    """What `path` holds; None if it is missing or no record."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def container_path(directory: str, container_id: str) -> str:
    return os.path.join(directory, CONTAINERS, container_id + ".json")


def containers(directory: str) -> list[dict[str, Any]]:
    """All container records of a pod's directory."""
    folder = os.path.join(directory, CONTAINERS)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = (read(os.path.join(folder, name)) for name in names if name.endswith(".json"))
    return [record for record in found if record is not None]
