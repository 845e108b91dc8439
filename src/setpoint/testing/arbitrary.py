"""Arbitrary objects of a kind, from its schema tree: well-typed for the most part, sensible now and then, and sometimes neither.

What a test makes of them is always the same for one seed. They are for finding what nobody thought of: an object that makes a
validation fail itself, a patch that crashes on what it meets.
"""

from __future__ import annotations

import random
from typing import Any

from setpoint.api.machinery.schema.node import Node

_DEPTH = 9
_WORDS = (
    "",
    "a",
    "web",
    "my-name",
    "Kubernetes",
    "example.com/x",
    "spec.x",
    "10.0.0.1",
    "10.0.0.0/8",
    "::1",
    "100m",
    "1Gi",
    "50%",
    "Always",
    "TCP",
    "In",
    "Exists",
    "*",
    "a" * 64,
    "a b",
    "é\u0000",
    "2026-01-01T00:00:00Z",
    "true",
    "-1",
)
_NUMBERS = (0, 1, -1, 2, 3, 80, 65536, 2**31 - 1, 2**31, 2**63 - 1, -(2**63))
_JUNK: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"": None}, [[]], {"a": {"b": [1, "x", None]}})


class Arbitrary:
    """Makes values. `junk` is the chance that a value is of any type at all, whatever its schema says."""

    def __init__(self, seed: int, junk: float = 0.01) -> None:
        self.rng = random.Random(seed)  # noqa: S311  # predictable on purpose
        self.junk = junk

    def of(self, node: Node, depth: int = _DEPTH) -> Any:
        """A value for `node`."""
        if self.rng.random() < self.junk:
            return self.rng.choice(_JUNK)
        match node.kind:
            case "object":
                return self._object(node, depth)
            case "list":
                return [self.of(node.items, depth - 1) for _ in range(self._few(depth))] if node.items else []
            case "map":
                return {self._word(): self.of(node.items, depth - 1) for _ in range(self._few(depth))} if node.items else {}
            case _:
                return self._scalar(node.kind)

    def _object(self, node: Node, depth: int) -> dict[str, Any]:
        chance = 0.35 if depth > 0 else 0.0
        # a union's members exclude one another: one field in a great many objects is what makes most of them sensible
        only = self.rng.choice([*node.fields]) if node.fields else ""
        return {
            name: self.of(child, depth - 1)
            for name, child in node.fields.items()
            if depth > -3 and (child.required or (name == only and depth > 0) or self.rng.random() < chance)
        }

    def _scalar(self, kind: str) -> Any:
        rng = self.rng
        match kind:
            case "integer":
                return rng.choice(_NUMBERS)
            case "number":
                return rng.choice((0, 1.5, -1e300, *_NUMBERS))
            case "boolean":
                return rng.random() < 0.5
            case "int-or-string":
                return rng.choice((*_NUMBERS, *_WORDS))
            case "quantity":
                return rng.choice(("1", "100m", "1Gi", "-1", "0", 1, "1e400", "x", "0.0000000001"))
            case "time" | "micro-time":
                return rng.choice(("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456Z", "0001-01-01T00:00:00Z", "x", None))
            case "bytes":
                return rng.choice(("", "YQ==", "%"))
            case "any":
                return rng.choice(_JUNK)
            case _:
                return self._word()

    def _few(self, depth: int) -> int:
        return self.rng.choice((0, 1, 1, 2, 3)) if depth > 0 else 0

    def _word(self) -> str:
        return self.rng.choice(_WORDS)

    def mutated(self, value: Any, times: int = 3) -> Any:
        """A copy of `value` with some of its parts replaced, removed or doubled."""
        for _ in range(times):
            value = self._mutate(value)
        return value

    def _mutate(self, value: Any) -> Any:
        if isinstance(value, dict) and value and self.rng.random() < 0.85:
            key = self.rng.choice([*value])
            if self.rng.random() < 0.1:
                return {name: each for name, each in value.items() if name != key}
            return {**value, key: self._mutate(value[key])}
        if isinstance(value, list) and value and self.rng.random() < 0.85:
            place = self.rng.randrange(len(value))
            return [*value[:place], self._mutate(value[place]), *value[place + self.rng.choice((0, 1, 1, 1)) :]]
        return self.rng.choice((*_JUNK, *_WORDS, *_NUMBERS, value))
