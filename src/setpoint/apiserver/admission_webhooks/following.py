"""Follows the configurations in the store. They are in force before the first request, changes from when they are seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.apiserver.admission_webhooks.hooks import read_hooks
from setpoint.apiserver.admission_webhooks.mutating import MutatingWebhooks
from setpoint.apiserver.admission_webhooks.step import WebhookStep
from setpoint.apiserver.admission_webhooks.validating import ValidatingWebhooks
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit import logs
from setpoint.registry.admission.chain import Chain, Step
from setpoint.registry.admission.matching import GROUP
from setpoint.registry.admission.reader import Reader
from setpoint.storage.protocol import Compacted, Lagged, Unavailable

log = logs.get_logger("apiserver.webhooks")

MUTATING, VALIDATING = "mutatingwebhookconfigurations", "validatingwebhookconfigurations"
_PAUSE = 1.0  # seconds until the store is asked again that could not answer


class WebhookConfigurations:
    """The configurations of one kind, and the step that they are for."""

    def __init__(self, pipeline: Pipeline, chain: Chain, step: WebhookStep, plural: str) -> None:
        self._pipeline = pipeline
        self._chain = chain
        self._step = step
        self._prefix = f"{plural}.{GROUP}/"
        self._known: dict[str, dict[str, Any]] = {}
        self._revision = 0
        step.serve(pipeline)

    async def load(self) -> None:
        """Put into force what is there."""
        page = await self._pipeline.store.list(self._prefix)
        self._revision = page.revision
        self._known = {record.key: orjson.loads(record.value) for record in page.records}
        self._enforce()

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
                    self._revision = event.revision
                    if event.record is None:
                        self._known.pop(event.key, None)
                    else:
                        self._known[event.key] = orjson.loads(event.record.value)
                self._enforce()

    def _enforce(self) -> None:
        try:
            self._step.hooks = read_hooks(list(self._known.values()))
        except (KeyError, TypeError, ValueError):  # what was let in and cannot be read must not keep the others out of force
            log.exception("a webhook configuration cannot be read", prefix=self._prefix)
        self._chain.changed()


class AdmissionWebhooks:
    """Both steps. `plugins` are for the chain, `followers` for the pipeline that has that chain."""

    def __init__(self, reader: Reader) -> None:
        self._mutating = MutatingWebhooks(reader)
        self._validating = ValidatingWebhooks(reader)

    @property
    def plugins(self) -> Mapping[str, Step]:
        return {"MutatingAdmissionWebhook": self._mutating, "ValidatingAdmissionWebhook": self._validating}

    def followers(self, pipeline: Pipeline, chain: Chain) -> list[WebhookConfigurations]:
        return [
            WebhookConfigurations(pipeline, chain, self._mutating, MUTATING),
            WebhookConfigurations(pipeline, chain, self._validating, VALIDATING),
        ]
