from __future__ import annotations

from typing import Any

from setpoint.client.correlation import COMBINED, CountCorrelator, SeriesCorrelator, timestamps


def event(message: str = "m", number: int = 1, now: float = 0.0, reason: str = "Started", name: str = "p") -> dict[str, Any]:
    return {
        "metadata": {"name": f"{name}.{number}", "namespace": "ns"},
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": name, "uid": "u"},
        "source": {"component": "kubelet", "host": "n1"},
        "reason": reason,
        "message": message,
        "type": "Normal",
        "action": "Start",
        "reportingComponent": "kubelet",
        "reportingInstance": "n1",
        **timestamps(now, series=False),
    }


def test_a_repeated_event_is_counted_in_the_first_one() -> None:
    correlator = CountCorrelator()
    first = correlator.correlate(event(number=1), 0)
    assert first is not None
    assert first.patch is None
    second = correlator.correlate(event(number=2, now=5), 5)
    assert second is not None
    assert second.event["metadata"]["name"] == "p.1"
    assert second.patch == {"count": 2, "lastTimestamp": "1970-01-01T00:00:05Z", "message": "m"}
    assert second.event["firstTimestamp"] == "1970-01-01T00:00:00Z"


def test_ten_messages_of_one_reason_become_one_event() -> None:
    correlator = CountCorrelator()
    sent = [correlator.correlate(event(f"m{number}", number), number) for number in range(12)]
    assert [send.event["message"] for send in sent if send][8:] == ["m8", COMBINED + "m9", COMBINED + "m10", COMBINED + "m11"]
    assert [send.event["count"] for send in sent if send][9:] == [1, 2, 3]


def test_after_ten_calm_minutes_messages_stand_alone_again() -> None:
    correlator = CountCorrelator()
    for number in range(12):
        correlator.correlate(event(f"m{number}", number), number)
    send = correlator.correlate(event("new", 50), 700)
    assert send is not None
    assert send.event["message"] == "new"


def test_a_flood_about_one_object_is_cut_off_and_trickles() -> None:
    correlator = CountCorrelator()
    sent = [correlator.correlate(event(number=number, reason=f"R{number}"), 0) for number in range(40)]
    assert sum(send is not None for send in sent) == 25
    assert correlator.correlate(event(number=99), 299) is None
    assert correlator.correlate(event(number=99), 301) is not None
    assert correlator.correlate(event(number=1, name="other"), 0) is not None


def test_series_are_begun_by_the_second_event_and_refreshed_seldom() -> None:
    correlator = SeriesCorrelator()
    assert correlator.correlate(event(number=1), 0) is not None
    second = correlator.correlate(event(number=2), 60)
    assert second is not None
    assert second.event["metadata"]["name"] == "p.1"
    assert second.patch == {"series": {"count": 2, "lastObservedTime": "1970-01-01T00:01:00.000000Z"}}
    assert [correlator.correlate(event(number=3), 60 + 300 * n) for n in (1, 2, 3, 4, 5)] == [None] * 5
    later = correlator.correlate(event(number=9), 60 + 1800)
    assert later is not None
    assert later.patch is not None
    assert later.patch["series"]["count"] == 8


def test_a_series_ends_after_six_calm_minutes() -> None:
    correlator = SeriesCorrelator()
    correlator.correlate(event(number=1), 0)
    send = correlator.correlate(event(number=2), 361)
    assert send is not None
    assert send.patch is None
