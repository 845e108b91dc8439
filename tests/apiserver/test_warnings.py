"""How many warnings an answer has, and how long they may be."""

from __future__ import annotations

from setpoint.apiserver.request import limited


def test_each_is_said_once() -> None:
    assert limited(["a", "b", "", "a"]) == ["a", "b"]


def test_up_to_4096_letters_are_said_in_full() -> None:
    assert [len(text) for text in limited(["a" * 4000, "b" * 96])] == [4000, 96]


def test_of_more_each_is_cut() -> None:
    cut = limited([f"{number:03}" + "x" * 300 for number in range(30)])
    assert {len(text) for text in cut} == {256}
    assert len(cut) == 16
