from __future__ import annotations

import asyncio

import pytest

from setpoint.kit.deadlines import Deadlines


async def test_whoever_is_late_gets_a_timeout_and_the_others_do_not() -> None:
    limit = Deadlines(0.05)

    async def work(seconds: float) -> str:
        with limit:
            await asyncio.sleep(seconds)
        return "done"

    async with asyncio.timeout(5):
        found = await asyncio.gather(work(0), work(10), work(0.01), return_exceptions=True)
        assert [type(each) for each in found] == [str, TimeoutError, str]
        assert await work(0.03) == "done"
        with pytest.raises(TimeoutError):
            await work(10)


async def test_a_cancellation_by_somebody_else_stays_one() -> None:
    limit = Deadlines(0.05)

    async def work() -> None:
        with limit:
            await asyncio.sleep(10)

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_within_itself_the_first_deadline_counts() -> None:
    limit = Deadlines(0.05)

    async def work() -> None:
        with limit:
            with limit:
                await asyncio.sleep(0.01)
            await asyncio.sleep(10)

    async with asyncio.timeout(5):
        with pytest.raises(TimeoutError):
            await work()
