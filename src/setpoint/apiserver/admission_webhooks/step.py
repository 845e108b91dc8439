"""What both admission steps have in common: their webhooks, and which writes those could be about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from setpoint.apiserver.admission_webhooks.configured_step import ConfiguredStep, Places
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.metering import Meter
from setpoint.apiserver.admission_webhooks.review import LIMIT, HookFailed
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.apiserver.webhooks.identities import ANONYMOUS, Identities
from setpoint.kit import logs
from setpoint.registry.admission.reader import Reader

log = logs.get_logger("apiserver.webhooks")


class WebhookStep(ConfiguredStep):
    """A step that knows no webhook yet."""

    kind: str  # as metrics call it

    def __init__(self, reader: Reader, users: Identities = ANONYMOUS) -> None:
        super().__init__(reader)
        self._users = users
        self._meter = Meter(self.kind)
        self.hooks: Sequence[Hook] = ()

    async def call(self, hook: Hook, body: bytes) -> bytes:
        """A webhook's answer. Raises CallFailed."""
        client = self.pipeline.webhooks
        return await client.call(hook.client, body, seconds=hook.seconds, limit=LIMIT, users=self._users)

    def is_idle(self) -> bool:
        return not self.hooks

    def could_match(self, operation: str, here: Places, everywhere: Places, subresource: str) -> bool:
        return any(hook.could_match(operation, everywhere if hook.equivalent else here, subresource) for hook in self.hooks)

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
