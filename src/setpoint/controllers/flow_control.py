"""Whether the priority level that a flow schema names is there: the condition `Dangling` of flow schemas.

Source: apiserver `util/flowcontrol/apf_controller.go`, which is the part of the API server that reads flow control's objects.
"""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types.flowcontrol_v1 import FLOWSCHEMAS, PRIORITYLEVELCONFIGURATIONS, FlowSchema, PriorityLevelConfiguration
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock, rfc3339

NAME = "priority-and-fairness-config-consumer"
_FOUND = 'This FlowSchema references the PriorityLevelConfiguration object named "{}" and it exists'
_MISSING = 'This FlowSchema references the PriorityLevelConfiguration object named "{}" but there is no such object'


class Observed(Struct, frozen=True):
    """A schema, and whether its level is there."""

    schema: FlowSchema
    found: bool


class Plan(Struct, frozen=True):
    """Write the condition."""

    schema: str
    level: str
    found: bool


class DanglingReconciler:
    """Keys are flow schemas."""

    def __init__(
        self, client: ClientProtocol, clock: Clock, schemas: Store[FlowSchema], levels: Store[PriorityLevelConfiguration]
    ) -> None:
        self._client = client
        self._clock = clock
        self._schemas = schemas
        self._levels = levels

    def observe(self, name: str) -> Observed | None:
        schema = self._schemas.get(name)
        return None if schema is None else Observed(schema, self._levels.get(_level(schema)) is not None)

    def diff(self, observed: Observed) -> Plan | None:
        schema = observed.schema
        wanted = "False" if observed.found else "True"
        present = next((one for one in schema.status.conditions if one.type == "Dangling"), None)
        if present is not None and present.status == wanted:
            return None
        return Plan(schema.metadata.name, _level(schema), observed.found)

    async def act(self, plan: Plan) -> Result | None:
        condition = {
            "type": "Dangling",
            "status": "False" if plan.found else "True",
            "lastTransitionTime": rfc3339(self._clock.now()),
            "reason": "Found" if plan.found else "NotFound",
            "message": (_FOUND if plan.found else _MISSING).format(plan.level),
        }
        patch = {"status": {"conditions": [condition]}}
        await self._client.patch(FLOWSCHEMAS, plan.schema, patch, kind="strategic", subresource="status")
        return None


def _level(schema: FlowSchema) -> str:
    return schema.spec.priority_level_configuration.name


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    schemas, levels = context.informers.of(FLOWSCHEMAS), context.informers.of(PRIORITYLEVELCONFIGURATIONS)
    reconciler = DanglingReconciler(context.client, context.clock, schemas.store, levels.store)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(schemas, levels))

    def level_changed(_: str, old: PriorityLevelConfiguration | None, level: PriorityLevelConfiguration | None) -> None:
        one = level or old
        if one is None or (old is not None and level is not None):
            return
        for schema in schemas.store.list():
            if _level(schema) == one.metadata.name:
                controller.enqueue(schema.metadata.name)

    controller.follow(schemas)
    levels.on_change(level_changed)
    return controller
