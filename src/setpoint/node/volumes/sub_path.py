"""`subPath`: a part of a volume as a mount, never anything outside of it."""

from __future__ import annotations

import os

from setpoint.node.runtime import ContainerError


def resolve(volume: str, sub_path: str, *, mount: str) -> str:
    """The host's path of `sub_path` inside `volume`, made as a directory when missing; raises ContainerError.

    Symbolic links are followed first, so that one which a container left in the volume cannot lead out.
    """
    if os.path.isabs(sub_path) or ".." in sub_path.split("/"):
        raise _refuse(mount, f"subPath must be relative and must not contain '..': {sub_path}")
    root = os.path.realpath(volume)
    place = os.path.realpath(os.path.join(root, sub_path))
    if place != root and not place.startswith(root + "/"):
        raise _refuse(mount, f"subPath {sub_path} leads out of the volume")
    if not os.path.exists(place):
        _make(place, os.stat(root).st_mode & 0o7777)
    return place


def _make(place: str, mode: int) -> None:
    """With the volume's own mode at every level, as kubelet: the container may run as another user."""
    above = os.path.dirname(place)
    if not os.path.exists(above):
        _make(above, mode)
    os.mkdir(place)
    os.chmod(place, mode)


def _refuse(mount: str, message: str) -> ContainerError:
    return ContainerError("CreateContainerConfigError", f'failed to prepare subPath for volumeMount "{mount}": {message}')
