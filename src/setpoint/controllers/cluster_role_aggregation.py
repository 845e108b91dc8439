"""ClusterRoles that gather the rules of others: `admin`, `edit`, `view`, and those of users.

Source: Kubernetes `pkg/controller/clusterroleaggregation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from setpoint.api.machinery.role_aggregation import aggregated_rules
from setpoint.api.types.rbac_v1 import CLUSTERROLES, ClusterRole
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context

NAME = "clusterrole-aggregation-controller"


class Plan(msgspec.Struct, frozen=True):
    """Write the rules."""

    role: str
    rules: Sequence[Any]


class AggregationReconciler:
    """Keys are roles. Every change of any role asks all that gather, because nobody knows who gathers whom."""

    def __init__(self, client: ClientProtocol, roles: Store[ClusterRole]) -> None:
        self._client = client
        self._roles = roles

    def gathering(self) -> list[str]:
        return [role.metadata.name for role in self._roles.list() if role.aggregation_rule is not None]

    def observe(self, name: str) -> ClusterRole | None:
        return self._roles.get(name)

    def diff(self, role: ClusterRole) -> Plan | None:
        if role.aggregation_rule is None:
            return None
        plain = msgspec.to_builtins(role)
        rules = aggregated_rules(plain, map(msgspec.to_builtins, self._roles.list()))
        return Plan(role.metadata.name, rules) if rules != (plain.get("rules") or []) else None

    async def act(self, plan: Plan) -> Result | None:
        """Where nothing is gathered no rules are said, so that what others have written there stays."""
        role: dict[str, Any] = {"metadata": {"name": plan.role}}
        if plan.rules:
            role["rules"] = plan.rules
        await self._client.apply(CLUSTERROLES, role, force=True, manager=NAME)
        return None


def new(context: Context) -> Controller[ClusterRole, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    roles = context.informers.of(CLUSTERROLES)
    reconciler = AggregationReconciler(context.client, roles.store)
    controller: Controller[ClusterRole, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(roles,))

    def changed(_: str, __: ClusterRole | None, ___: ClusterRole | None) -> None:
        for name in reconciler.gathering():
            controller.enqueue(name)

    roles.on_change(changed)
    return controller
