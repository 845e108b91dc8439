"""Who owns whom, over all objects of all resources, as the watches have told so far.

A plain state machine: `put` and `remove` take what a watch says and give the uids that deserve a look. An owner that dependents
name and no watch has shown is *virtual*: it may not have been seen yet, or may not exist; a look tells.

    dep ──ownerReferences──▶ boss        boss is deleted:        look at dep
    dep ──ownerReferences──▶ (virtual)   nobody has seen it:     look at it
    boss has foregroundDeletion          and is being deleted:   look at its dependents, then at boss when they are gone
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from setpoint.api.machinery.resource import Resource
from setpoint.client.metadata import ObjectMeta, OwnerReference, PartialObjectMetadata

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"

View = Resource[PartialObjectMetadata]


class Node(Struct, eq=False):
    """One object. `resource` is None for a virtual one: all that is known of it is how dependents call it."""

    uid: str
    api_version: str
    kind: str
    namespace: str
    name: str
    resource: View | None = None
    owners: tuple[OwnerReference, ...] = ()
    dependents: dict[str, Node] = field(default_factory=dict)
    deleting: bool = False
    deleting_dependents: bool = False
    orphaning: bool = False

    @property
    def virtual(self) -> bool:
        return self.resource is None

    def matches(self, ref: OwnerReference, namespace: str) -> bool:
        """Whether a reference from an object in `namespace` names this object rightly, not by its uid alone."""
        same = self.kind == ref.kind and self.name == ref.name and group_of(self.api_version) == group_of(ref.api_version)
        return same and (not self.namespace or self.namespace == namespace)

    def blocking(self) -> list[Node]:
        """The dependents that keep it from going while it is deleted in the foreground."""
        return [
            node
            for node in self.dependents.values()
            if any(ref.uid == self.uid and ref.block_owner_deletion for ref in node.owners)
        ]


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


class Graph:
    """All nodes by uid. Each change gives the uids to look at; nothing else happens."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def put(self, resource: View, meta: ObjectMeta) -> list[str]:
        """An object as a watch shows it."""
        node = self._nodes.get(meta.uid)
        if node is None:
            node = self._nodes[meta.uid] = Node(meta.uid, "", "", "", "")
        node.resource = resource
        node.api_version, node.kind, node.namespace, node.name = resource.api_version, resource.kind, meta.namespace, meta.name
        looks = [*self._own(node, meta.owner_references)]
        looks.extend(self._transition(node, meta))
        return looks

    def _own(self, node: Node, owners: tuple[OwnerReference, ...]) -> Iterator[str]:
        """Take over the references to owners."""
        if owners == node.owners:
            return
        before, node.owners = node.owners, owners
        wanted = {ref.uid for ref in owners}
        for ref in before:
            owner = self._nodes.get(ref.uid)
            if owner is None:
                continue
            if ref.uid not in wanted:
                self._unlink(owner, node)
            if owner.deleting_dependents:
                yield owner.uid  # it may have waited for this one
        for ref in owners:
            owner = self._nodes.get(ref.uid)
            if owner is None:
                owner = Node(ref.uid, ref.api_version, ref.kind, node.namespace, ref.name)
                self._nodes[ref.uid] = owner
            if owner.virtual:
                yield owner.uid
            elif owner.deleting_dependents or not owner.matches(ref, node.namespace):
                yield node.uid
            owner.dependents[node.uid] = node

    def _transition(self, node: Node, meta: ObjectMeta) -> Iterator[str]:
        """A deletion that begins, in one of the ways that concern dependents."""
        node.deleting = bool(meta.deletion_timestamp)
        was_deleting, was_orphaning = node.deleting_dependents, node.orphaning
        node.deleting_dependents = node.deleting and FOREGROUND in meta.finalizers
        node.orphaning = node.deleting and ORPHAN in meta.finalizers
        if node.deleting_dependents and not was_deleting:
            yield from node.dependents
            yield node.uid
        if node.orphaning and not was_orphaning:
            yield node.uid

    def remove(self, uid: str) -> list[str]:
        """An object is gone. While others name it as an owner it stays as a virtual one, should their watch be ahead of its."""
        node = self._nodes.get(uid)
        if node is None:
            return []
        looks = [*node.dependents]
        for ref in node.owners:
            owner = self._nodes.get(ref.uid)
            if owner is None:
                continue
            self._unlink(owner, node)
            if owner.deleting_dependents:
                looks.append(owner.uid)
        node.resource, node.owners = None, ()
        node.deleting = node.deleting_dependents = node.orphaning = False
        if not node.dependents:
            del self._nodes[uid]
        return looks

    def _unlink(self, owner: Node, dependent: Node) -> None:
        owner.dependents.pop(dependent.uid, None)
        if owner.virtual and not owner.dependents:
            self._nodes.pop(owner.uid, None)

    def virtual(self) -> list[str]:
        """The uids of owners that no watch has shown."""
        return [uid for uid, node in self._nodes.items() if node.virtual]

    def solid(self, node: Node) -> bool:
        """Whether every owner is known to be there and stays: then there is nothing to do, and nothing to ask the server."""
        for ref in node.owners:
            owner = self._nodes.get(ref.uid)
            if owner is None or owner.virtual or owner.deleting_dependents or not owner.matches(ref, node.namespace):
                return False
        return True
