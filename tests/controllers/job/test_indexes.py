from __future__ import annotations

import pytest

from setpoint.controllers.job import indexes


@pytest.mark.parametrize(
    ("given", "text"), [([], ""), ([3], "3"), ([1, 2], "1,2"), ([0, 1, 2, 4], "0-2,4"), ([7, 3, 4, 5, 1], "1,3-5,7")]
)
def test_ranges_are_written_as_kubernetes_does(given: list[int], text: str) -> None:
    found = indexes.of(given)
    assert (str(found), found.total) == (text, len(given))
    assert indexes.parse(text, 100) == found


def test_what_lies_beyond_the_limit_is_left_out() -> None:
    assert str(indexes.parse("0-5,8", 4)) == "0-3"


def test_joined_and_missing() -> None:
    found = indexes.of([0, 1]) | indexes.of([2, 5])
    assert str(found) == "0-2,5"
    assert found.missing(3, 8) == [3, 4, 6]
    assert found.missing(10, 6) == [3, 4]
    assert 5 in found
    assert 4 not in found
    assert found.common(indexes.parse("2-9", 100)) == 2
