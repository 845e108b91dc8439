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


async def test_of_large_answers_one_slice_is_sent_in_a_turn() -> None:
    turns, sent, counted = Turns(asyncio.get_running_loop()), list[int](), list[int]()

    async def send(number: int) -> None:
        for _ in range(3):
            await turns.slice()
            sent.append(number)

    sending = [asyncio.ensure_future(send(number)) for number in range(4)]
    cancelled = asyncio.ensure_future(send(9))
    await turn()
    cancelled.cancel()
    while not all(each.done() for each in sending):
        before = len(sent)
        await turn()
        counted.append(len(sent) - before)
    assert max(counted) == 1
    assert sorted(sent) == sorted([0, 1, 2, 3] * 3)
    assert set(sent[:5]) == {0, 1, 2, 3}, "each in its turn"
    await asyncio.wait_for(turns.slice(), 1)
