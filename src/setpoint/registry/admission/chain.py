"""Admission as a chain of steps, in Kubernetes' order.

Each step says which writes concern it, so that a write passes only those; the answer is remembered per kind of write.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct

from setpoint.api.machinery.status import StatusError, forbidden_object
from setpoint.registry.admission.metering import Phase
from setpoint.registry.admission.request import AdmissionRequest


class Step(Protocol):
    """One admission plugin. `admit` may change the object; `validate` sees it as it will be stored. Both may refuse."""

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool: ...
    async def admit(self, request: AdmissionRequest) -> None: ...
    async def validate(self, request: AdmissionRequest) -> None: ...


class BaseStep:
    """A step that lets pass; real ones override what they need."""

    #: `admit` may change the object
    changes: ClassVar[bool] = True

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return True

    async def admit(self, request: AdmissionRequest) -> None:
        """Change or refuse."""

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse."""


class _Way(Struct, frozen=True):
    """What one kind of write passes."""

    admit: Phase
    validate: Phase
    changes: bool


class Chain:
    """All steps, one after the other; the first refusal ends it. `last` are steps behind the plugins, which have no name.

    When a step asked for it (`reinvoke`), all of them see the object a second time, and never a third: whoever changes objects
    by the code of others (webhooks, policies) decides by itself whom to ask again. Source: apiserver `admission/reinvocation.go`.
    """

    def __init__(self, plugins: Mapping[str, Step], last: Sequence[Step] = ()) -> None:
        self._steps = (*plugins.items(), *(("", step) for step in last))
        self._ways: dict[tuple[str, str, str], _Way] = {}

    def admit(self, request: AdmissionRequest) -> Coroutine[Any, Any, None]:
        return self._way(request).admit.run(request)

    def validate(self, request: AdmissionRequest) -> Coroutine[Any, Any, None]:
        request.validating = True
        return self._way(request).validate.run(request)

    def concerned(self, operation: str, group_resource: str, subresource: str) -> bool:
        """Whether any step looks at such a write."""
        way = self._way_of((operation, group_resource, subresource))
        return bool(way.admit.steps or way.validate.steps)

    def changes(self, operation: str, group_resource: str, subresource: str) -> bool:
        """Whether any step may change what is written."""
        return self._way_of((operation, group_resource, subresource)).changes

    def changed(self) -> None:
        """A step concerns itself with other writes than before."""
        self._ways.clear()

    def _way(self, request: AdmissionRequest) -> _Way:
        return self._way_of((request.operation, request.resource.group_resource, request.subresource))

    def _way_of(self, key: tuple[str, str, str]) -> _Way:
        found = self._ways.get(key)
        if found is None:
            concerned = [(name, step) for name, step in self._steps if step.concerns(*key)]
            admitting = [*_with(concerned, "admit")]
            found = self._ways[key] = _Way(
                Phase("admit", key[0], [(name, step.admit) for name, step in admitting]),
                Phase("validate", key[0], [(name, step.validate) for name, step in _with(concerned, "validate")]),
                any(getattr(step, "changes", True) for _, step in admitting),
            )
        return found


def _with(steps: Sequence[tuple[str, Step]], phase: str) -> Iterator[tuple[str, Step]]:
    """Those that do anything in a phase."""
    nothing = getattr(BaseStep, phase)
    return ((name, step) for name, step in steps if getattr(type(step), phase) is not nothing)


def refuse(request: AdmissionRequest, why: str, causes: Sequence[Mapping[str, Any]] = ()) -> StatusError:
    """403 as admission gives it. Source: apiserver `pkg/admission/errors.go`."""
    return forbidden_object(request.resource.group, request.resource.plural, _name(request), why, causes)


def _name(request: AdmissionRequest) -> str:
    """While an object may still change, a name that the server makes up is not made yet."""
    metadata: Mapping[str, Any] = (request.obj or {}).get("metadata") or {}
    if request.generated_name and not request.validating:
        return str(metadata.get("generateName") or "Unknown")
    return request.name or str(metadata.get("name") or metadata.get("generateName") or "Unknown")
