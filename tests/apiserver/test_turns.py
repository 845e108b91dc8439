"""Requests that arrive at once."""

from __future__ import annotations

import asyncio
from functools import partial

from setpoint.apiserver.turns import AT_ONCE, EXEMPT, Turns


async def turn() -> None:
    await asyncio.sleep(0)


async def test_few_are_begun_at_once() -> None:
    turns, begun = Turns(asyncio.get_running_loop()), list[int]()
    for _ in range(3):
        for number in range(AT_ONCE):
            turns.take("a", partial(begun.append, number))
        assert len(begun) == AT_ONCE
        begun.clear()
        await turn()


async def test_of_many_each_turn_begins_some_exempt_ones_first_and_levels_in_turn() -> None:
    turns, begun = Turns(asyncio.get_running_loop()), list[str]()
    for _ in range(AT_ONCE * 3):
        turns.take("many", partial(begun.append, "many"))
    turns.take("few", partial(begun.append, "few"))
    turns.take("few", partial(begun.append, "few"))
    turns.take(EXEMPT, partial(begun.append, "exempt"))
    assert begun == ["many"] * AT_ONCE
    begun.clear()
    await turn()
    assert begun[:5] == ["exempt", "many", "few", "many", "few"]
    assert len(begun) == AT_ONCE
    turns.take("late", partial(begun.append, "late"))
    assert "late" not in begun  # who waits is not overtaken in the same turn
    for _ in range(3):
        await turn()
    assert (len(begun), begun.count("late")) == (AT_ONCE * 2 + 4, 1)
