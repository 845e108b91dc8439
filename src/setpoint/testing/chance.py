"""One seed for all chance in this process: uids, generated names, jitter. With it a failure of a random test can be told again.

Python's own order of sets of strings depends on PYTHONHASHSEED; set that too to repeat a run to the letter.
"""

from __future__ import annotations

import random
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar
from unittest import mock

from setpoint.registry import generated

T = TypeVar("T")


@contextmanager
def seeded(seed: int) -> Iterator[random.Random]:
    """Within it, `uuid.uuid4`, `secrets.choice`, `random.random` and generators made without a seed follow from `seed`."""
    source = random.Random(seed)  # noqa: S311  # predictable on purpose

    class Follower(random.Random):
        def __init__(self, own: int | None = None) -> None:
            super().__init__(source.getrandbits(64) if own is None else own)

    def uuid4() -> uuid.UUID:
        return uuid.UUID(int=source.getrandbits(128), version=4)

    def uid() -> str:
        return str(uuid4())

    def choice(options: Sequence[T]) -> T:
        return options[int(source.random() * len(options))]

    def suffix() -> str:
        return "".join(choice(generated.LETTERS) for _ in range(generated.SUFFIX))

    with (
        mock.patch.object(uuid, "uuid4", uuid4),
        mock.patch.object(generated, "uid", uid),
        mock.patch.object(generated, "suffix", suffix),
        mock.patch.object(secrets, "choice", choice),
        mock.patch.object(random, "random", source.random),
        mock.patch.object(random, "Random", Follower),
    ):
        yield source
