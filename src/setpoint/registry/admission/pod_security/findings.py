"""What rules look at, and how they tell what they found. Source: pod-security-admission `policy/visitor.go`, `helpers.go`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Json = Mapping[str, Any]
_NONE: Json = {}


class Finding(Struct, frozen=True):
    """Something that is not allowed: what in short, and where."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


class Pod:
    """A pod or a template of pods."""

    def __init__(self, metadata: Json, spec: Json) -> None:
        self.annotations: Mapping[str, str] = metadata.get("annotations") or _NONE
        self.spec = spec
        self.security: Json = spec.get("securityContext") or _NONE
        self.containers: list[Json] = [
            *(spec.get("initContainers") or ()),
            *(spec.get("containers") or ()),
            *(spec.get("ephemeralContainers") or ()),
        ]

    def names(self, bad: Callable[[Json], bool]) -> list[str]:
        """The containers of which something is true."""
        return [container.get("name", "") for container in self.containers if bad(container)]


def security(container: Json) -> Json:
    """A container's security context."""
    found: Json = container.get("securityContext") or _NONE
    return found


def inside(value: Json, name: str) -> Json:
    """A field that is an object, empty where there is none."""
    found: Json = value.get(name) or _NONE
    return found


def several(one: str, more: str, items: Iterable[Any]) -> str:
    return one if len(list(items)) == 1 else more


def quoted(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def containers(names: Sequence[str]) -> str:
    """`container "a"`, `containers "a", "b"`."""
    return f"{several('container', 'containers', names)} {quoted(names)}"


def setters(names: Sequence[str], *, pod: bool) -> str:
    """`pod and container "a"`."""
    return " and ".join([*(["pod"] if pod else []), *([containers(names)] if names else [])])
