from __future__ import annotations

from typing import Any

from setpoint.client.store import Store


def obj(name: str, namespace: str = "ns", node: str = "", version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "resourceVersion": version}, "node": node}


def test_objects_are_found_by_key_namespace_and_index() -> None:
    store: Store[dict[str, Any]] = Store({"node": lambda each: (each["node"],)})
    store.put(obj("a", node="n1"))
    store.put(obj("b", "other", node="n1"))
    assert store.get("ns/a") == obj("a", node="n1")
    assert store.list("other") == [obj("b", "other", node="n1")]
    assert len(store.by_index("node", "n1")) == 2


def test_replacing_moves_between_index_values_and_removing_clears() -> None:
    store: Store[dict[str, Any]] = Store({"node": lambda each: (each["node"],)})
    store.put(obj("a", node="n1"))
    old = store.put(obj("a", node="n2"))
    assert old is not None
    assert old["node"] == "n1"
    assert store.by_index("node", "n1") == []
    assert store.index_values("node") == ["n2"]
    assert store.remove("ns/a") is not None
    assert store.remove("ns/a") is None
    assert store.index_values("node") == []


def test_an_index_can_come_later() -> None:
    store: Store[dict[str, Any]] = Store()
    store.put(obj("a", node="n1"))
    store.add_index("node", lambda each: (each["node"],))
    assert store.by_index("node", "n1") == [obj("a", node="n1")]
    assert [*store] == ["ns/a"]
