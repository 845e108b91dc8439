"""How many seats a request takes: a list by the objects it must hold, a write by the watchers it wakes.

Source: apiserver `util/flowcontrol/request` (list and mutating work estimators). Every list is answered from memory here, as
Kubernetes answers from its watch cache. A watch that asks for the state at its start costs what the list of it would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo, is_true

MOST_FOR_WRITE = 10
MOST_FOR_LIST = 100
_BYTES_PER_SEAT = 100_000
_MOST_BYTES = 1_000_000  # a longer list is streamed
WATCHES_PER_SEAT = 10
AFTERWARDS = 0.005  # seconds for which a write keeps a seat per ten watchers, to wake them

Query = Mapping[str, Sequence[str]]


def asks_for_state(request: Request, info: RequestInfo) -> bool:
    """Whether a request is answered with a collection's objects."""
    if info.verb == "list":
        return not info.name
    if info.verb != "watch":
        return False
    wanted = request.query.get("sendInitialEvents")
    return wanted is not None and is_true(wanted[0])


def of_list(query: Query, count: int, size: int, widest: int) -> int:
    """Seats for a list out of `count` objects of about `size` bytes."""
    limit = _integer(query, "limit")
    held = min(count, limit) if limit > 0 else count
    seats = math.ceil(min(held * size, _MOST_BYTES) / _BYTES_PER_SEAT)
    return max(1, min(seats, widest, MOST_FOR_LIST))


def afterwards(watchers: int, widest: int) -> tuple[int, float]:
    """Seats that a write keeps when it is done, and for how long (seconds), with so many watchers."""
    if watchers < WATCHES_PER_SEAT:
        return 0, 0.0
    wanted = math.ceil(watchers / WATCHES_PER_SEAT)
    seats = min(wanted, widest, MOST_FOR_WRITE)
    return seats, AFTERWARDS * wanted / seats


def _integer(query: Query, name: str) -> int:
    words = query.get(name)
    return int(words[0]) if words and words[0].isascii() and words[0].isdigit() else 0
