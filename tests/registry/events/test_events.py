"""Events of the two groups."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.registry.builders import Json, complaints

from setpoint.registry.events.strategy import EventStrategy, NewEventStrategy

CORE, NEW = EventStrategy(), NewEventStrategy()


def event(namespace: str = "default", about: str = "default", **more: Any) -> Json:
    reported = {"reportingComponent": "a.example/c", "reportingInstance": "i", "action": "A", "reason": "R", "type": "Normal"}
    return {
        "metadata": {"name": "e", "namespace": namespace},
        "involvedObject": {"kind": "Pod", **({"namespace": about} if about else {})},
        "eventTime": "2024-01-01T00:00:00.000000Z",
        **reported,
        **more,
    }


def test_only_older_events_must_lie_where_their_object_does() -> None:
    assert complaints(CORE, event(about="other")) == []
    assert complaints(CORE, event("kube-system", about="")) == []
    assert complaints(CORE, event("some", about="")) != []
    assert complaints(CORE, event(about="other", eventTime=None)) == [
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    ]


def test_a_series_has_two_events_at_least_and_the_last_one_has_a_time() -> None:
    assert complaints(NEW, event(series={"count": 1}, source={"host": "h"})) == [
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        'source: Invalid value: "": needs to be unset',
    ]
    old = event(series={"count": 1})
    assert complaints(NEW, deepcopy(old), old) == []
    assert complaints(NEW, event(series={"count": 2}), old) == ["series.lastObservedTime: Required value"]
    assert complaints(CORE, event(series={"count": 1})) == []


def test_what_is_fixed_is_shown_as_kubernetes_holds_it() -> None:
    changed = event(involvedObject={"kind": "Pod", "namespace": "default", "name": "q"}, related={"kind": "Pod"}, source={})
    pod = '"Kind":"Pod","Namespace":"{}","Name":"{}","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""'
    assert complaints(NEW, changed, event(source={"host": "h"})) == [
        f"involvedObject: Invalid value: {{{pod.format('default', 'q')}}}: field is immutable",
        'source: Invalid value: {"Component":"","Host":""}: field is immutable',
        f"related: Invalid value: {{{pod.format('', '')}}}: field is immutable",
    ]


def test_core_events_have_free_names() -> None:
    assert CORE.validate_name("Pod_x.1", prefix=False) == []
    assert NEW.validate_name("Pod_x.1", prefix=False) != []


def test_what_may_not_change_is_shown_as_kubernetes_prints_it() -> None:
    old = event(related={"kind": "Node", "name": "n"})
    new = event(involvedObject={"kind": "Pod", "name": "q", "namespace": "default", "uid": "u"}, source={"host": "h"})
    assert complaints(NEW, new, old) == [
        (
            'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"default","Name":"q","UID":"u","APIVersion":"",'
            '"ResourceVersion":"","FieldPath":""}: field is immutable'
        ),
        'source: Invalid value: {"Component":"","Host":"h"}: field is immutable',
        "related: Invalid value: null: field is immutable",
    ]
