"""events/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class EventSeries(View, frozen=True, kw_only=True, rename={"last_observed_time": "lastObservedTime"}):
    count: int = 0
    last_observed_time: Nullable[str] = ""

    def __post_init__(self) -> None:
        if self.last_observed_time is None:
            force_setattr(self, "last_observed_time", "")


class Event(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "deprecated_count": "deprecatedCount",
        "deprecated_first_timestamp": "deprecatedFirstTimestamp",
        "deprecated_last_timestamp": "deprecatedLastTimestamp",
        "deprecated_source": "deprecatedSource",
        "event_time": "eventTime",
        "reporting_controller": "reportingController",
        "reporting_instance": "reportingInstance",
    },
):
    action: str = ""
    api_version: str = ""
    deprecated_count: int = 0
    deprecated_first_timestamp: Nullable[str] = ""
    deprecated_last_timestamp: Nullable[str] = ""
    deprecated_source: core_v1.EventSource = core_v1.EventSource()
    event_time: Nullable[str] = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    note: str = ""
    reason: str = ""
    regarding: core_v1.ObjectReference = core_v1.ObjectReference()
    related: core_v1.ObjectReference | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    series: EventSeries | None = None
    type: str = ""

    def __post_init__(self) -> None:
        if self.deprecated_first_timestamp is None:
            force_setattr(self, "deprecated_first_timestamp", "")
        if self.deprecated_last_timestamp is None:
            force_setattr(self, "deprecated_last_timestamp", "")
        if self.event_time is None:
            force_setattr(self, "event_time", "")


class EventList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Event, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


EVENTS: Resource[Event] = Resource("events.k8s.io", "v1", "events", "Event", True, Event)
