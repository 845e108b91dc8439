"""Levels and versions, and the labels of a namespace that name them. Source: pod-security-admission `api/helpers.go`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from setpoint.api.machinery.status import FieldError, invalid

PREFIX = "pod-security.kubernetes.io/"
PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
_STRICTNESS = (PRIVILEGED, BASELINE, RESTRICTED)
#: the minor version that `latest` is
LATEST = 1 << 30
_version = re.compile(r"v1\.(0|[1-9][0-9]*)").fullmatch


class Level(Struct, frozen=True):
    """A level in a version; `minor` is that of Kubernetes 1.x."""

    name: str = PRIVILEGED
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.name}:{'latest' if self.minor == LATEST else f'v1.{self.minor}'}"

    @property
    def strictness(self) -> int:
        return _STRICTNESS.index(self.name)


class Policy(Struct, frozen=True):
    """What holds in a namespace."""

    enforce: Level = Level()
    audit: Level = Level()
    warn: Level = Level()

    @property
    def does_nothing(self) -> bool:
        return self.enforce.name == self.audit.name == self.warn.name == PRIVILEGED


NOTHING = Policy()
_MODES = ("enforce", "audit", "warn")
_LABELS = tuple(f"{PREFIX}{mode}{part}" for mode in _MODES for part in ("", "-version"))


def policy_of(labels: Mapping[str, str], defaults: Policy = NOTHING) -> tuple[Policy, list[FieldError]]:
    """The policy that labels make, and what is wrong with them; a policy there always is."""
    if not any(label in labels for label in _LABELS):
        return defaults, []
    errors: list[FieldError] = []
    levels = {mode: _level(mode, labels, getattr(defaults, mode), errors) for mode in _MODES}
    enforce, warn = levels["enforce"], levels["warn"]
    if f"{PREFIX}warn" not in labels and f"{PREFIX}enforce" in labels and enforce.strictness > warn.strictness:
        version = warn.minor if f"{PREFIX}warn-version" in labels else enforce.minor
        levels["warn"] = Level(enforce.name, version)
    return Policy(**levels), errors


def parse_level(text: str) -> tuple[str, str]:
    """The level that a text names, and what is wrong with it; the strictest if it names none."""
    return (text, "") if text in _STRICTNESS else (RESTRICTED, f"must be one of {', '.join(_STRICTNESS)}")


def parse_version(text: str) -> tuple[int, str]:
    """The minor version that a text names, and what is wrong with it; the latest if it names none."""
    found = _version(text)
    return int(found[1]) if found else LATEST, "" if found or text == "latest" else 'must be "latest" or "v1.x"'


def _level(mode: str, labels: Mapping[str, str], default: Level, errors: list[FieldError]) -> Level:
    """Where a level cannot be read the strictest is enforced, and nothing said."""
    label = f"{PREFIX}{mode}"
    name, minor = default.name, default.minor
    given = labels.get(label)
    if given is not None:
        name, wrong = parse_level(given)
        if wrong:
            errors.append(_wrong(label, given, wrong))
            name = name if mode == "enforce" else PRIVILEGED
    version = labels.get(f"{label}-version")
    if version is not None:
        minor, wrong = parse_version(version)
        if wrong:
            errors.append(_wrong(f"{label}-version", version, wrong))
    return Level(name, minor)


def _wrong(label: str, value: str, why: str) -> FieldError:
    return invalid(f"metadata.labels[{label}]", value, why)
