"""An indexed store of objects by key: what an informer fills and controllers read.

Objects in it are shared and immutable. An index maps an object to any number of values; `by_index` finds objects by one of them.
Namespaced objects are always indexed by namespace.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from setpoint.client.objects import key_of, namespace_of

T = TypeVar("T")
IndexFunction = Callable[[T], Iterable[str]]
NAMESPACE = "namespace"


class Store(Generic[T]):
    """Reading never copies objects; the lists are the caller's own."""

    def __init__(self, indexers: Mapping[str, IndexFunction[T]] | None = None) -> None:
        self._objects: dict[str, T] = {}
        self._indexers: dict[str, IndexFunction[T]] = {NAMESPACE: _by_namespace, **(indexers or {})}
        self._indices: dict[str, dict[str, dict[str, T]]] = {name: {} for name in self._indexers}

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def get(self, key: str) -> T | None:
        """The object `namespace/name` (or `name`), None if there is none."""
        return self._objects.get(key)

    def list(self, namespace: str = "") -> builtins.list[T]:
        """All objects, or those of one namespace."""
        if namespace:
            return self.by_index(NAMESPACE, namespace)
        return [*self._objects.values()]

    def __iter__(self) -> Iterator[str]:
        """The keys as of now; the store may change meanwhile."""
        return iter([*self._objects])

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects for which the index function `name` gave `value`; KeyError if there is no such index."""
        return [*self._indices[name].get(value, {}).values()]

    def index_values(self, name: str) -> builtins.list[str]:
        """The values that the index has objects for."""
        return [*self._indices[name]]

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Index by one more function, what is already there included. Naming one that exists changes nothing."""
        if name in self._indexers:
            return
        self._indexers[name] = function
        index: dict[str, dict[str, T]] = {}
        self._indices[name] = index
        for key, obj in self._objects.items():
            for value in function(obj):
                index.setdefault(value, {})[key] = obj

    def put(self, obj: T) -> T | None:
        """Add or replace; the former object comes back."""
        key = key_of(obj)
        old = self._objects.get(key)
        self._objects[key] = obj
        for name, function in self._indexers.items():
            index, values = self._indices[name], function(obj)
            # it takes the place that the old one has where that is the same, as it always is of namespaces
            if old is not None and function is not _by_namespace and (before := function(old)) != values:
                _take_out(index, before, key)
            for value in values:
                index.setdefault(value, {})[key] = obj
        return old

    def remove(self, key: str) -> T | None:
        """Take out; the former object comes back."""
        old = self._objects.pop(key, None)
        if old is not None:
            for name, function in self._indexers.items():
                _take_out(self._indices[name], function(old), key)
        return old


def _take_out(index: dict[str, dict[str, T]], values: Iterable[str], key: str) -> None:
    """Let no value of an index lead to an object any more."""
    for value in values:
        bucket = index.get(value)
        if bucket is not None:
            bucket.pop(key, None)
            if not bucket:
                del index[value]


def _by_namespace(obj: object) -> tuple[str, ...]:
    namespace = namespace_of(obj)
    return (namespace,) if namespace else ()
