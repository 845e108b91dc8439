"""What the server knows of a resource: one row of the literal table in `registry.table`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from setpoint.registry.strategy import Column, Context, Object, Strategy

if TYPE_CHECKING:
    from setpoint.api.machinery.schema.node import Node

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


#: `await begin(context, obj, old)` may set fields; it gives what undoes it unless the write succeeds (`await end(success=…)`), or
#: nothing
Begin = Callable[[Context, Object, Object | None], Awaitable[Callable[..., Awaitable[None]] | None]]


class CustomKind(Struct, frozen=True):
    """What serves a custom kind, seen from one of its versions, where built-in kinds have the server's own.

    By version: `node` gives its tree, `schemas` its structural schema. `shallow` is the tree by which bodies are read: metadata
    as every kind has it, the rest as it comes; `settle_embedded` then gives the metadata of embedded resources its form, and the
    paths of what was dropped. `convert` is as in ServedResource, and raises where a webhook must be asked first.
    `codec(resource, canonical)` makes the codec; where a webhook converts, `store(store, codec)` makes the store that waits for
    it, and `around(handler)` calls a handler again once it was asked. `handlers` answer its subresources. Watches begin at the
    revision `since` at the earliest, and are found in `watches` while they run.
    """

    node: Callable[[str], Node]
    schemas: Mapping[str, Mapping[str, Any]]
    shallow: Node
    settle_embedded: Callable[[Object], list[str]]
    convert: Callable[[Object, str], Object]
    codec: Callable[..., Any]
    store: Callable[..., Any] | None = None
    around: Callable[[Any], Any] | None = None
    handlers: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    watches: set[Any] = field(default_factory=set)


class ServedResource(Struct, frozen=True):
    """One resource. `versions` are the served ones, newest preference first; the first is also the stored one unless `storage`
    says else.

    `definitions` maps each version to the name of its schema definition (`io.k8s.api.apps.v1.Deployment`).
    `virtual` resources (reviews, bindings) are never stored: they have handlers of their own. Objects vanish `ttl` seconds after
    their last write, if it is not 0. `deprecations` says, by version, what answers warn of.
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
    ttl: float = 0
    deprecations: Mapping[str, str] = field(default_factory=dict)
    #: what a kind takes for its objects beside storing them, and gives back after a deletion
    begin_create: Begin | None = None
    begin_update: Begin | None = None
    after_delete: Callable[[Context, Object], Awaitable[None]] | None = None
    #: set for custom kinds alone
    custom: CustomKind | None = None
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
