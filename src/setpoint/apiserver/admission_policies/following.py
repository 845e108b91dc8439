"""Follows the policies and bindings in the store. They are in force before the first request, changes from when they are seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.apiserver.admission_policies.step import MutatingPolicies, PolicyStep, ValidatingPolicies
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit import logs
from setpoint.registry.admission.chain import Chain, Step
from setpoint.registry.admission.matching import GROUP
from setpoint.registry.admission.reader import Reader
from setpoint.storage.protocol import Compacted, Event, Lagged, Unavailable

log = logs.get_logger("apiserver.policies")

VALIDATING, MUTATING = "validatingadmissionpolicies", "mutatingadmissionpolicies"
_BINDINGS = {VALIDATING: "validatingadmissionpolicybindings", MUTATING: "mutatingadmissionpolicybindings"}
_PAUSE = 1.0  # seconds until the store is asked again that could not answer

Known = dict[str, dict[str, Any]]


class Collection:
    """The objects of one kind as they are now, which `changed` is told of."""

    def __init__(self, pipeline: Pipeline, plural: str, owner: Policies) -> None:
        self._pipeline = pipeline
        self._prefix = f"{plural}.{GROUP}/"
        self._owner = owner
        self._revision = 0
        self.known: Known = {}

    async def load(self) -> None:
        """Put into force what is there."""
        page = await self._pipeline.store.list(self._prefix)
        self._revision = page.revision
        self.known = {record.key: orjson.loads(record.value) for record in page.records}
        self._owner.enforce()

    async def run(self) -> None:
        """Put every change into force; never ends, and begins anew with what is there where changes were missed."""
        behind = False
        while True:
            try:
                if behind:
                    await self.load()
                behind = False
                await self._follow()
            except (Lagged, Compacted):
                behind = True
            except Unavailable:
                behind = True
                await self._pipeline.clock.sleep(_PAUSE)

    async def _follow(self) -> None:
        async with await self._pipeline.store.watch(self._prefix, after=self._revision) as watch:
            while True:
                for event in await watch.next():
                    self._take(event)
                self._owner.enforce()

    def _take(self, event: Event) -> None:
        self._revision = event.revision
        if event.record is None:
            self.known.pop(event.key, None)
        else:
            self.known[event.key] = orjson.loads(event.record.value)


class Policies:
    """The policies of one kind with their bindings, and the step that they are for."""

    def __init__(self, pipeline: Pipeline, chain: Chain, step: PolicyStep, plural: str) -> None:
        self._chain = chain
        self._step = step
        self._policies = Collection(pipeline, plural, self)
        self._bindings = Collection(pipeline, _BINDINGS[plural], self)
        step.serve(pipeline)

    @property
    def collections(self) -> list[Collection]:
        return [self._policies, self._bindings]

    def enforce(self) -> None:
        policies, bindings = self._policies.known, self._bindings.known
        if not policies and not bindings and not self._step.policies:
            return
        from setpoint.apiserver.admission_policies.definitions import read_policies  # a start needs none of it

        try:
            self._step.policies = read_policies([*policies.values()], [*bindings.values()], self._step.policies)
        except (KeyError, TypeError, ValueError):  # what was let in and cannot be read must not keep the others out of force
            log.exception("an admission policy cannot be read")
        self._chain.changed()


class AdmissionPolicies:
    """Both steps. `plugins` are for the chain, `followers` for the pipeline that has that chain."""

    def __init__(self, reader: Reader) -> None:
        self._validating = ValidatingPolicies(reader)
        self._mutating = MutatingPolicies(reader)

    @property
    def plugins(self) -> Mapping[str, Step]:
        return {"ValidatingAdmissionPolicy": self._validating, "MutatingAdmissionPolicy": self._mutating}

    def followers(self, pipeline: Pipeline, chain: Chain) -> list[Collection]:
        return [
            *Policies(pipeline, chain, self._validating, VALIDATING).collections,
            *Policies(pipeline, chain, self._mutating, MUTATING).collections,
        ]
