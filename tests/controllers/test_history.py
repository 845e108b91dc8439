from __future__ import annotations

from setpoint.controllers import history


def test_data_is_encoded_as_go_does() -> None:
    assert history.encoded({"b": [1, True], "a": "<x&y>"}) == b'{"a":"\\u003cx\\u0026y\\u003e","b":[1,true]}'


def test_the_hash_is_fnv_1_of_data_and_collisions() -> None:
    assert history.revision_hash({}, 0) != history.revision_hash({}, 1)
    assert all(letter in "bcdfghjklmnpqrstvwxz2456789" for letter in history.revision_hash({"a": 1}, 0))


def test_long_names_leave_room_for_the_hash() -> None:
    assert history.revision_name("x" * 300, "abc") == "x" * 223 + "-abc"
