"""Times are read as Go reads them, errors included."""

from __future__ import annotations

import pytest

from setpoint.api.machinery.schema import times


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z"),
        ("2024-02-29T23:59:59.999999999Z", "2024-02-29T23:59:59Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00+05:00", "0001-01-01T00:00:00Z"),
    ],
)
def test_time(text: str, written: str) -> None:
    times.check(text)
    assert times.canonical(text) == written


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("yesterday", 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'),
        ("2020-01-01", 'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("2020-13-01T00:00:00Z", 'parsing time "2020-13-01T00:00:00Z": month out of range'),
        ("2023-02-29T00:00:00Z", 'parsing time "2023-02-29T00:00:00Z": day out of range'),
        ("2020-01-01T24:00:00Z", 'parsing time "2020-01-01T24:00:00Z": hour out of range'),
        ("2020-01-01T00:00:00", 'parsing time "2020-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'),
        ("2020-01-01T00:00:00Zx", 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'),
    ],
)
def test_complaints(text: str, complaint: str) -> None:
    with pytest.raises(times.TimeError) as caught:
        times.check(text)
    assert str(caught.value) == complaint


def test_micro_times_have_exactly_six_digits() -> None:
    times.check("2026-01-01T00:00:00.123456Z", micro=True)
    for text in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z"):
        with pytest.raises(times.TimeError, match=r"as \"\.000000\""):
            times.check(text, micro=True)
    with pytest.raises(times.TimeError, match=r"cannot parse \"789Z\" as \"Z07:00\"$"):
        times.check("2026-01-01T00:00:00.123456789Z", micro=True)
    assert times.canonical_micro("2026-01-01T01:00:00.000001+01:00") == "2026-01-01T00:00:00.000001Z"
