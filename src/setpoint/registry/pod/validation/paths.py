"""Paths inside a volume."""

from __future__ import annotations

from setpoint.api.machinery.status import invalid
from setpoint.registry.fields import Errors


def no_backsteps(path: str, value: str) -> Errors:
    """No element of the path is `..`."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def local_descending(path: str, value: str) -> Errors:
    """A relative path that stays below its start."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + no_backsteps(path, value)


def local_non_reserved(path: str, value: str) -> Errors:
    """As `local_descending`, and no name that the atomic writer of volumes keeps for itself."""
    errors = local_descending(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors
