"""What the server knows of a resource: one row of the literal table in `registry.table`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from setpoint.registry.strategy import Column, Object, Strategy

STANDARD_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Subresource(Struct, frozen=True):
    """`status`, `scale`, `binding` …: `kind` is what it answers with (group and version too where they differ from the parent's).

    `strategy` is set where a write changes the parent's own object (status, finalize, approval, resize, ephemeralcontainers);
    the others have a handler of their own, found by name.
    """

    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    group: str | None = None
    version: str | None = None
    strategy: Strategy | None = None


class Table(Struct, frozen=True):
    """How `kubectl get` prints a kind: `cells(obj, now)` gives one value per column.

    `conditions(obj)`, where a kind has it, marks rows (a pod that is done); clients may hide those.
    `order(obj)`, where a kind has it, is what the rows of a list are sorted by; others stand as they are stored.
    """

    columns: tuple[Column, ...]
    cells: Callable[[Object, float], list[Any]]
    conditions: Callable[[Object], list[dict[str, str]]] | None = None
    order: Callable[[Object], Any] | None = None


class ServedResource(Struct, frozen=True):
    """One resource. `versions` are the served ones, newest preference first; the first is also the stored one unless `storage`
    says else.

    `definitions` maps each version to the name of its schema definition (`io.k8s.api.apps.v1.Deployment`).
    `virtual` resources (reviews, bindings) are never stored: they have handlers of their own.
    """

    group: str
    versions: tuple[str, ...]
    plural: str
    singular: str
    kind: str
    namespaced: bool
    strategy: Strategy
    definitions: Mapping[str, str]
    verbs: tuple[str, ...] = STANDARD_VERBS
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    table: Table | None = None
    storage: str = ""
    virtual: bool = False
    list_kind: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: turns an object into another of its API versions (`convert(obj, "autoscaling/v1")`), where a kind has several; returns a
    #: new object, may share parts. Strategies see objects of the storage version only; `defaults` fills in a version's own
    #: defaults before that (by version).
    convert: Callable[[Object, str], Object] | None = None
    defaults: Mapping[str, Callable[[Object], None]] = field(default_factory=dict)
    #: the store's name of the collection where two groups serve the same objects (events.k8s.io stores into `events`), and the
    #: apiVersion that is stored
    stored_as: str = ""
    stored_api_version: str = ""

    @property
    def group_resource(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def collection(self) -> str:
        """The store's name of the collection, the same for all that share it."""
        return self.stored_as or self.group_resource

    @property
    def storage_version(self) -> str:
        return self.storage or self.versions[0]

    def key(self, namespace: str, name: str) -> str:
        """The store's key of an object."""
        return f"{self.collection}/{namespace}/{name}" if self.namespaced else f"{self.collection}/{name}"

    def prefix(self, namespace: str = "") -> str:
        """The store's prefix of a collection."""
        return f"{self.collection}/{namespace}/" if self.namespaced and namespace else f"{self.collection}/"
