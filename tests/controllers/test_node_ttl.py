from __future__ import annotations

from typing import Any

from setpoint.api.types.core_v1 import Node
from setpoint.api.types.meta_v1 import ObjectMeta
from setpoint.client.store import Store
from setpoint.controllers.node_ttl import TtlReconciler


def test_bounds_overlap() -> None:
    nodes: Store[Node] = Store()
    reconciler = TtlReconciler(None, nodes)  # type: ignore[arg-type]  # nothing is written

    def grow(to: int) -> bool:
        for number in range(len(nodes), to):
            nodes.put(Node(metadata=ObjectMeta(name=f"n{number}")))
        for number in range(to, len(nodes)):
            nodes.remove(f"n{number}")
        return reconciler.resized()

    assert [grow(100), grow(101), grow(95), grow(89), grow(600)] == [False, True, False, True, True]


async def test_a_new_node_gets_the_annotation(world: Any) -> None:
    await world.call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    await world.run("ttl-controller")
    assert (await world.get("/api/v1/nodes/n1"))["metadata"]["annotations"] == {"node.alpha.kubernetes.io/ttl": "0"}
