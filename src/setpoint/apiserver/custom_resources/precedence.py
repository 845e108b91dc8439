"""Kinds that the server has by itself go before kinds of definitions.

Kubernetes asks its own groups first and custom ones after that, so that a definition of, say, `leases.coordination.k8s.io` is
let in and never reached. Here both kinds of objects are in one store too, where such a definition would own another's objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from setpoint.apiserver.generic_store.store import GenericStore
from setpoint.registry.resource import ServedResource


def hides(stores: Iterable[GenericStore], group: str, plural: str, kind: str) -> bool:
    """Whether one of the server's own resources has a definition's place: its plural or its kind, or its part of the store."""
    return any(row.group == group and kind in (row.kind, row.list_kind) for row in _own(stores)) or holds(
        stores, f"{plural}.{group}"
    )


def holds(stores: Iterable[GenericStore], collection: str) -> bool:
    """Whether a part of the store belongs to one of the server's own resources."""
    return any(collection in (row.group_resource, row.collection) for row in _own(stores))


def _own(stores: Iterable[GenericStore]) -> Iterator[ServedResource]:
    for store in stores:
        if not store.resource.custom:
            yield store.resource
