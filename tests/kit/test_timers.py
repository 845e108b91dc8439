from __future__ import annotations

from setpoint.kit.clock import VirtualClock


async def test_a_timer_calls_at_its_moment_unless_it_was_cancelled() -> None:
    clock, rung = VirtualClock(), list[float]()
    clock.call_later(5, lambda: rung.append(clock.elapsed))
    clock.call_later(3, lambda: rung.append(-1.0)).cancel()
    await clock.advance(4)
    assert rung == []
    await clock.advance(10)
    assert rung == [5.0]
