"""What the rules of a definition may cost by estimate: each one, and all of them together.

Source: Kubernetes' `apiextensions-apiserver/pkg/apis/apiextensions/validation`: validation.go, cel_validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.cel.spans import MAX
from setpoint.api.machinery.status import FieldError, forbidden

EXPRESSION_LIMIT, SCHEMA_LIMIT = 10_000_000, 100_000_000
_CONTRIBUTORS = 4
_NOTED = SCHEMA_LIMIT // 100


def over_budget(what: str, cost: int, limit: int) -> str:
    """The complaint that an estimate is too high."""
    factor = cost / limit
    shown = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    hint = (
        "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared"
    )
    return f"{what} exceeds budget by factor of {shown} ({hint})"


class TotalCost:
    """The sum over a schema, and who contributed most."""

    def __init__(self) -> None:
        self.total = 0
        self._expensive: list[tuple[int, str]] = []

    def observe(self, path: str, cost: int) -> None:
        self.total = min(self.total + cost, MAX)
        if cost >= _NOTED:
            self._expensive.append((cost, path))
            self._expensive.sort(key=lambda one: -one[0])
            del self._expensive[_CONTRIBUTORS:]

    def errors(self, path: str) -> list[FieldError]:
        """If the total is too high: one error per great contributor, and one for the whole at `path`."""
        if self.total <= SCHEMA_LIMIT:
            return []
        detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        contributors = [forbidden(where, detail) for _, where in self._expensive]
        return [*contributors, forbidden(path, over_budget(what, self.total, SCHEMA_LIMIT))]


def children_cardinality(schema: Mapping[str, Any], cardinality: int | None) -> int | None:
    """How often a child of the schema can occur in one object, given how often the schema can; nothing if without bound."""
    most = _max_elements(schema)
    return None if most is None or cardinality is None else min(most * cardinality, MAX)


def _max_elements(schema: Mapping[str, Any]) -> int | None:
    bound: Any = None
    if schema.get("type") == "object":
        if not isinstance(schema.get("additionalProperties"), Mapping):
            return 1
        bound = schema.get("maxProperties")
    elif schema.get("type") == "array":
        bound = schema.get("maxItems")
    return None if bound is None else max(int(bound), 0)
