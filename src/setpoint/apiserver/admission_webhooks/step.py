"""What both admission steps have in common: their webhooks, and which writes those could be about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setpoint.apiserver.admission_webhooks.choosing import Choice
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.metering import Meter
from setpoint.apiserver.admission_webhooks.review import LIMIT, HookFailed
from setpoint.apiserver.admission_webhooks.subject import Subject, places
from setpoint.apiserver.webhooks.identities import ANONYMOUS, Identities
from setpoint.kit import logs
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.matching import EXEMPT
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline

log = logs.get_logger("apiserver.webhooks")

_OURSELVES = "system:apiserver"


class WebhookStep(BaseStep):
    """An admission step that knows no webhook yet. It is made before the pipeline, which is given to it by `serve`."""

    pipeline: Pipeline
    kind: str  # as metrics call it

    def __init__(self, reader: Reader, users: Identities = ANONYMOUS) -> None:
        self._users = users
        self._meter = Meter(self.kind)
        self.choice = Choice(reader)
        self.hooks: Sequence[Hook] = ()

    def serve(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    async def call(self, hook: Hook, body: bytes) -> bytes:
        """A webhook's answer. Raises CallFailed."""
        client = self.pipeline.webhooks
        return await client.call(hook.client, body, seconds=hook.seconds, limit=LIMIT, users=self._users)

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if not self.hooks or group_resource in EXEMPT:
            return False
        plural, _, group = group_resource.partition(".")
        store = self.pipeline.stores.get((group, plural))
        collection = store.resource.collection if store is not None else group_resource
        everywhere = [(one, name) for one, _, name in places(self.pipeline, collection, "")]
        here = [(group, plural)]
        return any(hook.could_match(operation, everywhere if hook.equivalent else here, subresource) for hook in self.hooks)

    def is_starting(self, request: AdmissionRequest) -> bool:
        """Whether the server makes its first objects: a webhook that cannot be reached must not keep it from starting."""
        return not self.pipeline.health.started and request.context.user.name == _OURSELVES

    @contextmanager
    def measured(self, hook: Hook, subject: Subject) -> Iterator[None]:
        """Count what a webhook is asked in the block, and what comes of it. A request that is given up counts for nothing."""
        clock, operation = self.pipeline.clock, subject.request.operation
        start = clock.monotonic()
        try:
            yield
        except Exception as error:
            self._meter.asked(hook, operation, clock.monotonic() - start, error)
            raise
        self._meter.asked(hook, operation, clock.monotonic() - start, None)

    def failed_open(self, hook: Hook, failure: HookFailed) -> None:
        """A webhook failed, and the write goes on without it."""
        log.warning("a webhook failed, which its policy ignores", error=str(failure))
        self._meter.failed_open(hook)
