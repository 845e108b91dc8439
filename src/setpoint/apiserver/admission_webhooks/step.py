"""What both admission steps have in common: their webhooks, and which writes those could be about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from setpoint.apiserver.admission_webhooks.choosing import Choice
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.subject import places
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.matching import EXEMPT
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline

_OURSELVES = "system:apiserver"


class WebhookStep(BaseStep):
    """An admission step that knows no webhook yet. It is made before the pipeline, which is given to it by `serve`."""

    pipeline: Pipeline

    def __init__(self, reader: Reader) -> None:
        self.choice = Choice(reader)
        self.hooks: Sequence[Hook] = ()

    def serve(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

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
