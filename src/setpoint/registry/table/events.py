"""The resources of events.k8s.io."""

from __future__ import annotations

from setpoint.registry.events.conversion import convert_event
from setpoint.registry.events.strategy import TTL, NewEventStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="events.k8s.io",
        versions=("v1",),
        plural="events",
        singular="event",
        kind="Event",
        namespaced=True,
        strategy=NewEventStrategy(),
        definitions=definitions("events", "Event"),
        short_names=("ev",),
        ttl=TTL,
        convert=convert_event,
        stored_as="events",
        stored_api_version="v1",
    ),
)
