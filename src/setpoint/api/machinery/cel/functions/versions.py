"""Semantic versions. Source: Kubernetes' `apiserver/pkg/cel/library/semverlib.go` and semver.org's precedence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.cel.values import CelError, opaque_names

#: numbers have 64 bits
_MAX_NUMBER = 2**64 - 1
_identifier = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_version = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    rf"(?:-({_identifier}(?:\.{_identifier})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
).fullmatch


class Version(Struct, frozen=True):
    """A version; build metadata does not count."""

    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()

    def order(self) -> tuple[Any, ...]:
        """What versions sort by: a pre-release comes before its release, numbers before words."""
        return (
            self.numbers,
            not self.before,
            [(not part.isdigit(), int(part) if part.isdigit() else part) for part in self.before],
        )


opaque_names[Version] = "kubernetes.Semver"


def _normal(text: str) -> str:
    """Without a leading `v`, with all three numbers, without leading zeros."""
    text = text.removeprefix("v")
    core = re.split("[-+]", text, maxsplit=1)[0]
    numbers = [part.lstrip("0") or ("0" if part else "") for part in core.split(".")]
    return ".".join([*numbers, *["0"] * (3 - len(numbers))]) + text[len(core) :]


def _parse(text: str, normalize: bool = False) -> Version | None:
    found = _version(_normal(text) if normalize else text)
    if found is None:
        return None
    before = tuple(found[4].split(".")) if found[4] else ()
    numbers = [found[1], found[2], found[3], *filter(str.isdecimal, before)]
    if any(len(number) > 20 or int(number) > _MAX_NUMBER for number in numbers):
        return None
    return Version((int(found[1]), int(found[2]), int(found[3])), before)


def _to_version(text: str, normalize: bool = False) -> Version:
    version = _parse(text, normalize)
    if version is None:
        raise CelError("No Major.Minor.Patch elements found")
    return version


def _is_version(text: str, normalize: bool = False) -> bool:
    return _parse(text, normalize) is not None


def _compare(one: Version, other: Version) -> int:
    return (one.order() > other.order()) - (one.order() < other.order())


OVERLOADS: dict[str, Callable[..., Any]] = {
    "string_to_semver": _to_version,
    "string_bool_to_semver": _to_version,
    "is_semver_string": _is_version,
    "is_semver_string_bool": _is_version,
    "semver_is_greater_than": lambda one, other: _compare(one, other) > 0,
    "semver_is_less_than": lambda one, other: _compare(one, other) < 0,
    "semver_compare_to": _compare,
    "semver_major": lambda version: version.numbers[0],
    "semver_minor": lambda version: version.numbers[1],
    "semver_patch": lambda version: version.numbers[2],
}
