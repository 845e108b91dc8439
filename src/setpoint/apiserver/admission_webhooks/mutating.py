"""MutatingAdmissionWebhook: webhooks are asked one after the other, each sees what those before it made of the object.

Where a later one changed it, those that want to (`reinvocationPolicy: IfNeeded`) are asked a second time, together with the
plugins of the server itself. Source: apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`, `reinvocationcontext.go`.
"""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError, internal_error
from setpoint.apiserver.admission_webhooks import review
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.review import HookFailed
from setpoint.apiserver.admission_webhooks.step import WebhookStep
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.kit import logs
from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.request import AdmissionRequest, Reinvocation

log = logs.get_logger("apiserver.webhooks")

NAME = "MutatingAdmissionWebhook"
MUTATION, PATCH = "mutation.webhook.admission.k8s.io/", "patch.webhook.admission.k8s.io/"
FAILED_OPEN = "failed-open.mutation.webhook.admission.k8s.io/"


class MutatingWebhooks(WebhookStep):
    """The step that may change objects."""

    kind = "admit"

    async def admit(self, request: AdmissionRequest) -> None:
        if self.is_starting(request):
            return
        state = request.reinvocation(NAME)
        if request.reinvoking and state.output != _dumped(request):
            state.bring_back()
        subject = Subject(request, self.pipeline, hide=True)
        for index, hook in enumerate(self.hooks):
            target = await self.choice.place(hook, subject)
            if target is None or (request.reinvoking and hook.uid not in state.again):
                continue
            await self._one(hook, subject, target, index, state)
        state.output = _dumped(request)

    async def _one(self, hook: Hook, subject: Subject, target: Target, index: int, state: Reinvocation) -> None:
        place = f"round_{int(subject.request.reinvoking)}_index_{index}"
        changed, failure = False, None
        try:
            with self.measured(hook, subject):
                changed = await self._ask(hook, subject, target, place)
        except HookFailed as error:
            failure = error
        finally:
            marks = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
            review.annotate(subject, f"{MUTATION}{place}", _json(marks))
        if changed:
            state.bring_back()
            subject.request.reinvoke = True
        if hook.reinvoked:
            state.asked.add(hook.uid)
        if failure is None:
            return
        if not hook.ignores_failures:
            raise internal_error(str(failure)) from failure
        self.failed_open(hook, failure)
        marks = {"configuration": hook.configuration, "webhook": hook.name}
        review.annotate(subject, f"{FAILED_OPEN}{place}", _json(marks))

    async def _ask(self, hook: Hook, subject: Subject, target: Target, place: str) -> bool:
        verdict = await review.ask(self.call, hook, subject, target, mutating=True)
        review.note(subject, hook, verdict)
        if not verdict.allowed:
            raise review.denial(hook, verdict.status)
        from setpoint.apiserver.admission_webhooks import patching  # a start needs none of what it needs

        operations = patching.operations_of(hook, verdict)
        if not operations:
            return False
        try:
            changed = await patching.change(hook, subject, target, operations)
        except StatusError:
            log.warning("a webhook's patch does not fit", webhook=hook.name)
            raise
        marks = {"configuration": hook.configuration, "webhook": hook.name, "patch": operations, "patchType": verdict.patch_type}
        review.annotate(subject, f"{PATCH}{place}", _json(marks))
        return changed


def _dumped(request: AdmissionRequest) -> bytes:
    return orjson.dumps(request.obj)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
