"""Admission as a chain of steps, in Kubernetes' order.

Each step says which writes concern it, so that a write passes only those; the answer is remembered per kind of write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from setpoint.api.machinery.status import StatusError, forbidden_object
from setpoint.registry.admission.request import AdmissionRequest


class Step(Protocol):
    """One admission plugin. `admit` may change the object; `validate` sees it as it will be stored. Both may refuse."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool: ...
    async def admit(self, request: AdmissionRequest) -> None: ...
    async def validate(self, request: AdmissionRequest) -> None: ...


class BaseStep:
    """A step that lets pass; real ones override what they need."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return True

    async def admit(self, request: AdmissionRequest) -> None:
        """Change or refuse."""

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse."""


class Chain:
    """All steps, one after the other; the first refusal ends it.

    When a step asked for it (`reinvoke`), all of them see the object a second time, and never a third: whoever changes objects
    by the code of others (webhooks, policies) decides by itself whom to ask again. Source: apiserver `admission/reinvocation.go`.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)
        self._chosen: dict[tuple[str, str, str], tuple[Step, ...]] = {}

    async def admit(self, request: AdmissionRequest) -> None:
        steps = self._for(request)
        for step in steps:
            await step.admit(request)
        if request.reinvoke:
            request.reinvoking = True
            for step in steps:
                await step.admit(request)

    async def validate(self, request: AdmissionRequest) -> None:
        for step in self._for(request):
            await step.validate(request)

    def concerned(self, operation: str, group_resource: str, subresource: str) -> bool:
        """Whether any step looks at such a write."""
        return bool(self._steps_for((operation, group_resource, subresource)))

    def changed(self) -> None:
        """A step concerns itself with other writes than before."""
        self._chosen.clear()

    def _for(self, request: AdmissionRequest) -> tuple[Step, ...]:
        return self._steps_for((request.operation, request.resource.group_resource, request.subresource))

    def _steps_for(self, key: tuple[str, str, str]) -> tuple[Step, ...]:
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = tuple(step for step in self._steps if step.concerns(*key))
        return found


def refuse(request: AdmissionRequest, why: str) -> StatusError:
    """403 as admission gives it."""
    name = request.name or ((request.obj or {}).get("metadata") or {}).get("name", "")
    return forbidden_object(request.resource.group, request.resource.plural, name, why)
