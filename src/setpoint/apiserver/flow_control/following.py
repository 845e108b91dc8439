"""Follows the FlowSchemas and PriorityLevelConfigurations in the store, and lets flow control go by them.

A burst of changes is taken over at once. Source: apiserver `util/flowcontrol/apf_controller.go` (the config consumer).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from setpoint.apiserver.flow_control.control import FlowControl
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.following import Following
from setpoint.storage.protocol import Record, Store

SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io/"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/"


class FlowControlObjects:
    """A `pipeline.Follower`."""

    def __init__(self, control: FlowControl, store: Store, clock: Clock) -> None:
        self._control = control
        self._found: dict[str, dict[str, dict[str, Any]]] = {LEVELS: {}, SCHEMAS: {}}
        self._changed = True
        self._followings = [
            Following(store, clock, prefix, partial(self._take, found), self._apply) for prefix, found in self._found.items()
        ]

    async def load(self) -> None:
        """Go by what is there."""
        for following in self._followings:
            await following.load()

    async def run(self) -> None:
        """Take over every change; never ends."""
        async with Tasks("flow control") as tasks:
            for following in self._followings:
                tasks.start(following.prefix, following.run())

    def _take(self, found: dict[str, dict[str, Any]], key: str, record: Record | None) -> None:
        before = found.pop(key, None)
        if record is not None:
            found[key] = orjson.loads(record.value)
        self._changed |= _rules(before) != _rules(found.get(key))

    def _apply(self) -> None:
        if self._changed:
            self._changed = False
            self._control.configure(self._found[SCHEMAS].values(), self._found[LEVELS].values())


def _rules(obj: dict[str, Any] | None) -> Any:
    """What flow control goes by: a status is not part of it."""
    return None if obj is None else (obj["metadata"].get("uid"), obj.get("spec"))
