"""Slow start: batches of one, two, four … calls, so that a server which refuses every create is asked once, not 500 times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def slow_start(count: int, call: Callable[[], Awaitable[None]], *, initial: int = 1) -> tuple[int, Exception | None]:
    """Call `count` times, stop after the first batch with an error; return how many succeeded, and the first error.

    Cancelled, it cancels the calls in flight, whose outcome is then unknown.
    """
    succeeded, batch = 0, min(count, initial)
    while count > 0:
        outcomes = await asyncio.gather(*(call() for _ in range(batch)), return_exceptions=True)
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        succeeded += batch - len(errors)
        for error in errors:
            if not isinstance(error, Exception):
                raise error
            return succeeded, error
        count -= batch
        batch = min(count, 2 * batch)
    return succeeded, None
