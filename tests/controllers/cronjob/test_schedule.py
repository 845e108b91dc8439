from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from setpoint.controllers.cronjob.schedule import Unparseable, parse


def after(text: str, moment: str, zone: str = "") -> str:
    found = parse(text, zone).next(datetime.fromisoformat(moment).timestamp())
    return "" if found is None else datetime.fromtimestamp(found, ZoneInfo(zone or "UTC")).isoformat()


@pytest.mark.parametrize(
    ("text", "moment", "found"),
    [
        ("* * * * *", "2030-01-01T00:00:30+00:00", "2030-01-01T00:01:00+00:00"),
        ("* * * * *", "2030-01-01T00:01:00+00:00", "2030-01-01T00:02:00+00:00"),
        ("*/15 8-10 * * *", "2030-01-01T10:45:00+00:00", "2030-01-02T08:00:00+00:00"),
        ("5/20 * * * *", "2030-01-01T00:06:00+00:00", "2030-01-01T00:25:00+00:00"),
        ("0 0 1 jan *", "2030-01-01T00:00:00+00:00", "2031-01-01T00:00:00+00:00"),
        ("0 0 29 2 *", "2030-01-01T00:00:00+00:00", "2032-02-29T00:00:00+00:00"),
        ("0 0 13 * FRI", "2030-01-01T00:00:00+00:00", "2030-01-04T00:00:00+00:00"),
        ("0 0 */2 * 5", "2030-01-01T00:00:00+00:00", "2030-01-03T00:00:00+00:00"),
        ("0,,30, * * * *", "2030-01-01T00:10:00+00:00", "2030-01-01T00:30:00+00:00"),
        ("0 0 ? * 0", "2030-01-01T00:00:00+00:00", "2030-01-06T00:00:00+00:00"),
        ("@hourly", "2030-01-01T00:30:00+00:00", "2030-01-01T01:00:00+00:00"),
        ("@every 1h30m", "2030-01-01T00:00:10+00:00", "2030-01-01T01:30:10+00:00"),
        ("59 23 31 2 *", "2030-01-01T00:00:00+00:00", ""),
        (", * * * *", "2030-01-01T00:00:00+00:00", ""),
        ("*-5 ?-x * * *", "2030-01-01T00:00:00+00:00", "2030-01-01T00:01:00+00:00"),
        ("+5 * * * *", "2030-01-01T00:00:00+00:00", "2030-01-01T00:05:00+00:00"),
        ("@every -1h", "2030-01-01T00:00:00+00:00", "2030-01-01T00:00:01+00:00"),
        ("@every 0", "2030-01-01T00:00:00+00:00", "2030-01-01T00:00:01+00:00"),
        ("@every 3000000\u03bcs", "2030-01-01T00:00:00+00:00", "2030-01-01T00:00:03+00:00"),
    ],
)
def test_next(text: str, moment: str, found: str) -> None:
    assert after(text, moment) == found


def test_time_zones() -> None:
    berlin = "Europe/Berlin"
    assert after("0 9 * * *", "2030-07-01T00:00:00+00:00", berlin) == "2030-07-01T09:00:00+02:00"
    assert after("30 2 * * *", "2030-03-30T12:00:00+00:00", berlin) == "2030-04-01T02:30:00+02:00", "2:30 did not happen on 31"
    first = after("30 2 * * *", "2030-10-26T12:00:00+00:00", berlin)
    assert (first, after("30 2 * * *", first, berlin)) == ("2030-10-27T02:30:00+02:00", "2030-10-27T02:30:00+01:00")
    assert after("TZ=Asia/Tokyo 0 9 * * *", "2030-01-01T00:00:00+00:00") == "2030-01-02T00:00:00+00:00"


@pytest.mark.parametrize("text", ["", "* * * *", "60 * * * *", "* * 0 * *", "5-1 * * * *", "*/0 * * * *", "@often", "@every x"])
def test_no_schedules(text: str) -> None:
    with pytest.raises(Unparseable):
        parse(text)


def test_no_time_zone() -> None:
    with pytest.raises(Unparseable):
        parse("* * * * *", "Nowhere/City")
