"""ValidatingAdmissionWebhook: all webhooks are asked at once, about the object as it will be stored.

Source: apiserver `pkg/admission/plugin/webhook/validating/dispatcher.go`.
"""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, internal_error
from setpoint.apiserver.admission_webhooks import review
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.review import HookFailed
from setpoint.apiserver.admission_webhooks.step import WebhookStep
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.kit.tasks import Tasks
from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.request import AdmissionRequest

FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/"


class ValidatingWebhooks(WebhookStep):
    """The step that only refuses. Of several refusals the first webhook's is the answer."""

    kind = "validating"

    async def validate(self, request: AdmissionRequest) -> None:
        if self.is_starting(request):
            return
        subject = Subject(request, self.pipeline)
        chosen: list[tuple[Hook, Target]] = []
        for hook in self.hooks:
            target = await self.choice.place(hook, subject)
            if target is not None:
                await self._see(subject, target)
                chosen.append((hook, target))
        for refusal in await self._all(chosen, subject):
            if refusal is not None:
                raise refusal

    @staticmethod
    async def _see(subject: Subject, target: Target) -> None:
        try:
            await subject.seen(target)
        except StatusError as error:
            raise internal_error(error.message) from error

    async def _all(self, chosen: list[tuple[Hook, Target]], subject: Subject) -> list[StatusError | None]:
        if len(chosen) < 2:
            return [await self._one(hook, subject, target, index) for index, (hook, target) in enumerate(chosen)]
        async with Tasks("validating webhooks") as tasks:
            asked = [
                tasks.start(hook.name, self._one(hook, subject, target, index)) for index, (hook, target) in enumerate(chosen)
            ]
        return [each.result() for each in asked]

    async def _one(self, hook: Hook, subject: Subject, target: Target, index: int) -> StatusError | None:
        """What a webhook says against the write."""
        try:
            with self.measured(hook, subject):
                await self._ask(hook, subject, target)
        except StatusError as error:
            return error
        except HookFailed as failure:
            if not hook.ignores_failures:
                return internal_error(str(failure))
            self.failed_open(hook, failure)
            review.annotate(subject, f"{FAILED_OPEN}round_0_index_{index}", hook.name)
        return None

    async def _ask(self, hook: Hook, subject: Subject, target: Target) -> None:
        verdict = await review.ask(self.call, hook, subject, target, mutating=False)
        review.note(subject, hook, verdict)
        if not verdict.allowed:
            raise review.denial(hook, verdict.status)
