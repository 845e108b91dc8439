from __future__ import annotations

from typing import Any

from setpoint.api.types.core_v1 import CONFIGMAPS
from setpoint.client.metadata import ObjectMeta, OwnerReference, metadata_only
from setpoint.controllers.garbage_collector.graph import Graph

CM = metadata_only(CONFIGMAPS)


def meta(uid: str, *owners: str, namespace: str = "ns", block: bool = False, **more: Any) -> ObjectMeta:
    refs = tuple(
        OwnerReference(api_version="v1", kind="ConfigMap", name=owner, uid=owner, block_owner_deletion=block) for owner in owners
    )
    return ObjectMeta(name=uid, uid=uid, namespace=namespace, owner_references=refs, **more)


def test_an_owner_nobody_has_seen_is_looked_at() -> None:
    graph = Graph()
    assert graph.put(CM, meta("dep", "boss")) == ["boss"]
    assert graph.virtual() == ["boss"]
    assert graph.put(CM, meta("boss")) == []
    dep = graph.get("dep")
    assert dep is not None
    assert graph.solid(dep)


def test_dependents_are_looked_at_when_their_owner_goes() -> None:
    graph = Graph()
    graph.put(CM, meta("boss"))
    graph.put(CM, meta("dep", "boss"))
    assert graph.remove("boss") == ["dep"]
    assert graph.remove("dep") == []
    assert len(graph) == 0


def test_an_owner_that_shows_up_after_it_was_thought_gone_has_its_dependents() -> None:
    graph = Graph()
    graph.put(CM, meta("dep", "boss"))
    assert graph.remove("boss") == ["dep"]
    graph.put(CM, meta("boss"))
    assert graph.remove("boss") == ["dep"]


def test_an_owner_of_the_right_uid_and_the_wrong_namespace_is_no_owner() -> None:
    graph = Graph()
    graph.put(CM, meta("boss"))
    assert graph.put(CM, meta("dep", "boss", namespace="other")) == ["dep"]
    dep = graph.get("dep")
    assert dep is not None
    assert not graph.solid(dep)


def test_foreground_deletion_looks_at_dependents_and_then_at_the_owner() -> None:
    graph = Graph()
    graph.put(CM, meta("boss"))
    graph.put(CM, meta("dep", "boss", block=True))
    graph.put(CM, meta("free", "boss"))
    dying = meta("boss", deletion_timestamp="2030-01-01T00:00:00Z", finalizers=("foregroundDeletion",))
    assert graph.put(CM, dying) == ["dep", "free", "boss"]
    boss = graph.get("boss")
    assert boss is not None
    assert [node.uid for node in boss.blocking()] == ["dep"]
    assert graph.put(CM, dying) == []
    assert graph.put(CM, meta("dep")) == ["boss"]
    assert graph.remove("free") == ["boss"]


def test_orphaning_looks_at_the_owner() -> None:
    graph = Graph()
    graph.put(CM, meta("boss"))
    assert graph.put(CM, meta("boss", deletion_timestamp="2030-01-01T00:00:00Z", finalizers=("orphan",))) == ["boss"]
