"""Which old value a new one is compared with, and whether anything changed: what ratcheting and `oldSelf` go by.

Source: Kubernetes' `apiserver/pkg/cel/common/equality.go` and `maplist.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.schema.unchanged import unchanged

Schema = Mapping[str, Any]


class Correlated:
    """A new value beside its old one; whether they are equal is found out once."""

    __slots__ = ("_same", "new", "old", "schema")

    def __init__(self, new: Any, old: Any, schema: Schema) -> None:
        self.new = new
        self.old = old
        self.schema = schema
        self._same: bool | None = None

    def same(self) -> bool:
        if self._same is None:
            self._same = unchanged(self.new, self.old, self.schema)
        return self._same


class Ratchet:
    """Where validation stands: the correlated values here, and those of the nearest ancestor that had some.

    An error of a value that did not change is forgiven, and so is one inside a value that did not change as a whole.
    """

    __slots__ = ("here", "parent")

    def __init__(self, here: Correlated | None = None, parent: Correlated | None = None) -> None:
        self.here = here
        self.parent = parent

    def forgives(self) -> bool:
        known = self.here or self.parent
        return known is not None and known.same()

    def key(self, name: str, schema: Schema) -> Ratchet:
        here = self.here
        if here is None:
            return self
        if self.parent is None and name in {"apiVersion", "kind"}:
            return Ratchet()
        inner = None
        if isinstance(here.new, dict) and isinstance(here.old, dict) and name in here.new and name in here.old:
            inner = Correlated(here.new[name], here.old[name], schema)
        return Ratchet(inner, here)

    def index(self, new: Any, old: Any, schema: Schema) -> Ratchet:
        """`old` is the item that the new one is compared with, or nothing."""
        if self.here is None:
            return self
        return Ratchet(None if old is None else Correlated(new, old, schema), self.here)

    def every(self) -> Ratchet:
        """For the rules inside `allOf`, which only an unchanged ancestor forgives."""
        return Ratchet(None, self.parent)


class OldItems:
    """The items of an old list by the keys of a map list; empty for any other list."""

    __slots__ = ("_items", "_keys")

    def __init__(self, old: Any, schema: Schema) -> None:
        self._keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        self._items: dict[str, Any] = {}
        if isinstance(old, list) and schema.get("x-kubernetes-list-type") == "map":
            for item in old:
                if isinstance(item, dict):
                    self._items.setdefault(self._key(item), item)

    def get(self, item: Any) -> Any:
        return self._items.get(self._key(item)) if self._items and isinstance(item, dict) else None

    def _key(self, item: Mapping[str, Any]) -> str:
        return repr([item.get(key) for key in self._keys])
