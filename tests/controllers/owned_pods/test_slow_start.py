from __future__ import annotations

from setpoint.controllers.owned_pods.slow_start import slow_start


class Calls:
    def __init__(self, fail_from: int) -> None:
        self.count = 0
        self.fail_from = fail_from

    async def __call__(self) -> None:
        self.count += 1
        if self.count >= self.fail_from:
            raise ValueError(self.count)


async def test_all_succeed() -> None:
    calls = Calls(1000)
    assert await slow_start(10, calls) == (10, None)


async def test_the_first_refusal_ends_it_after_one_call() -> None:
    calls = Calls(1)
    succeeded, error = await slow_start(500, calls)
    assert (succeeded, str(error), calls.count) == (0, "1", 1)


async def test_batches_double() -> None:
    calls = Calls(5)
    succeeded, _ = await slow_start(500, calls)
    assert (succeeded, calls.count) == (4, 7)


async def test_nothing_to_do() -> None:
    assert await slow_start(0, Calls(1)) == (0, None)
