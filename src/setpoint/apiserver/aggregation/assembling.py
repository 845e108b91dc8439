"""The parts of aggregation, put together around a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from setpoint.apiserver.aggregation.automanaged import AutomanagedServices, Groups
from setpoint.apiserver.aggregation.availability import Availability
from setpoint.apiserver.aggregation.backend import Backend
from setpoint.apiserver.aggregation.documents import Documents
from setpoint.apiserver.aggregation.following import APIServices

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline
    from setpoint.apiserver.pki import KeyPair


class Aggregation:
    """What a pipeline needs to pass on requests. `custom_groups` are those of custom kinds.

    Each of `on_change` is called when discovery and OpenAPI are no longer the same.
    """

    def __init__(self, pipeline: Pipeline, custom_groups: Callable[[], Groups], pair: KeyPair | None = None) -> None:
        self._backend = Backend(pipeline.webhooks.services, pair)
        self.services = APIServices(pipeline, self._backend)
        self.documents = Documents(self.services, self._backend, self._changed)
        self.automanaged = AutomanagedServices(pipeline, self.services, custom_groups)
        self.on_change: list[Callable[[], None]] = []
        self.services.on_change.append(self._changed)
        availability = Availability(pipeline, self.services, self._backend, self.documents.refresh)
        pipeline.followers += [self.services, availability, self.automanaged]
        pipeline.on_close.append(self._backend.close)

    def _changed(self) -> None:
        for tell in self.on_change:
            tell()
