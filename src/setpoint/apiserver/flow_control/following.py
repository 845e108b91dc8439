"""Follows the FlowSchemas and PriorityLevelConfigurations in the store, and lets flow control go by them.

A burst of changes is taken over at once. Source: apiserver `util/flowcontrol/apf_controller.go` (the config consumer).
"""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.apiserver.flow_control.control import FlowControl
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.storage.protocol import Compacted, Lagged, Record, Store, Unavailable

log = logs.get_logger("apiserver.flow_control")

SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io/"
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/"
_PAUSE = 1.0  # seconds until the store is asked again that could not answer


class FlowControlObjects:
    """A `pipeline.Follower`."""

    def __init__(self, control: FlowControl, store: Store, clock: Clock) -> None:
        self._control = control
        self._store = store
        self._clock = clock
        self._found: dict[str, dict[str, dict[str, Any]]] = {SCHEMAS: {}, LEVELS: {}}
        self._revisions = {SCHEMAS: 0, LEVELS: 0}

    async def load(self) -> None:
        """Go by what is there."""
        for prefix in (LEVELS, SCHEMAS):
            await self._list(prefix)
        self._apply()

    async def run(self) -> None:
        """Take over every change; never ends."""
        async with Tasks("flow control") as tasks:
            for name, prefix in (("levels", LEVELS), ("schemas", SCHEMAS)):
                tasks.start(name, self._keep(prefix))

    async def _keep(self, prefix: str) -> None:
        behind = False
        while True:
            try:
                if behind:
                    await self._list(prefix)
                    self._apply()
                behind = False
                await self._follow(prefix)
            except (Lagged, Compacted):
                behind = True
            except Unavailable:
                behind = True
                await self._clock.sleep(_PAUSE)

    async def _list(self, prefix: str) -> None:
        page = await self._store.list(prefix)
        self._revisions[prefix] = page.revision
        self._found[prefix] = {record.key: _read(record) for record in page.records}

    async def _follow(self, prefix: str) -> None:
        found = self._found[prefix]
        async with await self._store.watch(prefix, after=self._revisions[prefix]) as watch:
            while True:
                changed = False
                for event in await watch.next():
                    self._revisions[prefix] = event.revision
                    before = found.pop(event.key, None)
                    if event.record is not None:
                        found[event.key] = _read(event.record)
                    changed |= _rules(before) != _rules(found.get(event.key))
                if changed:
                    self._apply()

    def _apply(self) -> None:
        try:
            self._control.configure(self._found[SCHEMAS].values(), self._found[LEVELS].values())
        except Exception:  # what was let in and cannot be gone by must not end the following
            log.exception("flow control stays as it was")


def _rules(obj: dict[str, Any] | None) -> Any:
    """What flow control goes by: a status is not part of it."""
    return None if obj is None else (obj["metadata"].get("uid"), obj.get("spec"))


def _read(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(record.value)
    return found
