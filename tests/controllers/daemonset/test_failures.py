from __future__ import annotations

from setpoint.controllers.daemonset.failures import FIRST, LONGEST, Failures
from setpoint.kit.clock import VirtualClock


async def test_each_failure_waits_longer_and_nodes_without_one_are_forgotten() -> None:
    clock = VirtualClock()
    failures = Failures(clock)
    failures.count("d", "gone")
    for delay in (FIRST, 2 * FIRST, 4 * FIRST):
        failures.count("d", "n")
        assert failures.waits("d")["n"] == delay
    await clock.advance(5)
    assert failures.waits("d") == {}
    await clock.advance(2 * LONGEST)
    failures.count("d", "n")
    assert failures.waits("d") == {"n": FIRST}
    assert [*failures._known["d"]] == ["n"]
    failures.forget("d")
    assert not failures._known
