"""What steps have in common that go by objects in the store: webhooks and policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from setpoint.apiserver.admission_webhooks.choosing import Choice
from setpoint.apiserver.admission_webhooks.subject import places
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.matching import EXEMPT
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline

_OURSELVES = "system:apiserver"
Places = Sequence[tuple[str, str]]


class ConfiguredStep(BaseStep, ABC):
    """An admission step that is configured by nothing yet. It is made before the pipeline, which is given to it by `serve`."""

    pipeline: Pipeline

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.choice = Choice(reader)

    def serve(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if self.is_idle() or group_resource in EXEMPT:
            return False
        plural, _, group = group_resource.partition(".")
        store = self.pipeline.stores.get((group, plural))
        collection = store.resource.collection if store is not None else group_resource
        everywhere = [(one, name) for one, _, name in places(self.pipeline, collection, "")]
        return self.could_match(operation, [(group, plural)], everywhere, subresource)

    @abstractmethod
    def is_idle(self) -> bool:
        """Whether there is nothing that writes could be about."""

    @abstractmethod
    def could_match(self, operation: str, here: Places, everywhere: Places, subresource: str) -> bool:
        """Whether anything may be about a write to one of these (group, plural); `everywhere` has those that are equivalent."""

    def is_starting(self, request: AdmissionRequest) -> bool:
        """Whether the server makes its first objects: what is configured must not keep it from starting."""
        return not self.pipeline.health.started and request.context.user.name == _OURSELVES
