"""Per node: the NoSchedule taints that its conditions mean, and the older names of two labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.store import Store
from setpoint.controllers.node_lifecycle import taints
from setpoint.kit.clock import Clock

OLDER_NAMES = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}


class Plan(Struct, frozen=True):
    """Replace the node's taints; set labels."""

    node: Node
    taints: Sequence[Mapping[str, Any]] | None
    labels: Mapping[str, str]


class TaintReconciler:
    """Keys are nodes."""

    def __init__(self, client: ClientProtocol, clock: Clock, nodes: Store[Node]) -> None:
        self._client = client
        self._clock = clock
        self._nodes = nodes

    def observe(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def diff(self, node: Node) -> Plan | None:
        wanted = taints.with_no_schedule(node, self._clock.now())
        present = node.metadata.labels or {}
        labels = {
            older: present[newer]
            for newer, older in OLDER_NAMES.items()
            if newer in present and present.get(older) != present[newer]
        }
        return Plan(node, wanted, labels) if wanted is not None or labels else None

    async def act(self, plan: Plan) -> Result | None:
        name = plan.node.metadata.name
        body: dict[str, Any] = taints.patch(plan.node, plan.taints) if plan.taints is not None else {"metadata": {}}
        if plan.labels:
            body["metadata"]["labels"] = dict(plan.labels)
        await self._client.patch(NODES, name, body)
        return None
