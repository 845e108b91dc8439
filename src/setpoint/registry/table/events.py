"""The resources of events.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="events.k8s.io",
        versions=("v1",),
        plural="events",
        singular="event",
        kind="Event",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("events", "Event"),
        short_names=("ev",),
        stored_as="events",
        stored_api_version="v1",
    ),
)
