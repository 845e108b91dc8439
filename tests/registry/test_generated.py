"""What the server makes up is of the right form, and never the same twice."""

from __future__ import annotations

import uuid

from setpoint.registry import generated


def test_uids_are_random_uuids() -> None:
    made = [generated.uid() for _ in range(300)]
    assert len(set(made)) == len(made)
    assert all(str(found) == text and found.version == 4 for text in made if (found := uuid.UUID(text)))
    assert all(uuid.UUID(text).variant == uuid.RFC_4122 for text in made)


def test_suffixes_are_five_of_the_letters() -> None:
    made = [generated.suffix() for _ in range(300)]
    assert all(len(text) == generated.SUFFIX and set(text) <= set(generated.LETTERS) for text in made)
    assert set("".join(made)) == set(generated.LETTERS)
