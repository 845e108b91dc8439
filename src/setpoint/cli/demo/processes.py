"""The processes behind pods, found as any user of the machine could find them: by their environment."""

from __future__ import annotations

from collections.abc import Iterator

import psutil

MARK = "SETPOINT_DEMO"


def of_pods(mark: str) -> dict[str, psutil.Process]:
    """The first process of each pod of this demonstration, by the pod's name (which the manifest puts into the environment)."""
    found: dict[str, psutil.Process] = {}
    for process, environment in _marked(mark):
        name = environment.get("POD_NAME", "")
        if name and (name not in found or process.create_time() < found[name].create_time()):
            found[name] = process
    return found


def left(mark: str) -> list[psutil.Process]:
    """Every process that still runs for this demonstration."""
    return [process for process, _ in _marked(mark)]


def values(mark: str, variable: str) -> set[str]:
    """What a variable is in the processes that still run for this demonstration; some may end while one looks."""
    return {environment.get(variable, "") for _, environment in _marked(mark)}


def _marked(mark: str) -> Iterator[tuple[psutil.Process, dict[str, str]]]:
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            if environment.get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process, environment
        except (psutil.Error, OSError):
            continue  # not ours to see, or gone meanwhile
