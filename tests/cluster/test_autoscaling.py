"""Random autoscalers with random metrics in random trouble: no change that their specification forbids, and rest in the end.

SETPOINT_SEEDS says which seeds: a number of them, or a range such as 40-60.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from setpoint.node.simulated import Stages
from setpoint.testing.autoscaling import AutoscaledCluster, Autoscaling
from setpoint.testing.invariants import Invariants, Quiet

STEPS = 40
QUIET_SECONDS = 330.0


def seeds() -> range:
    first, _, last = os.environ.get("SETPOINT_SEEDS", "1").rpartition("-")
    return range(int(first or 0), int(last))


@pytest.fixture(scope="module")
def looks() -> Iterator[list[int]]:
    """How often each seed's controller asked for metrics: autoscalers of one seed may all be gone too soon, not those of all."""
    counted: list[int] = []
    yield counted
    assert sum(counted) > 0


@pytest.mark.parametrize("seed", seeds())
async def test_whatever_happens_replicas_stay_within_what_is_allowed(seed: int, looks: list[int]) -> None:
    async with AutoscaledCluster(seed=seed, stages=Stages(ready=2.0)) as cluster:
        users = Autoscaling(cluster)
        async with Invariants(cluster.store, cluster.clock, lambda: cluster.faults.lost_creates("pods")) as invariants:
            try:
                await users.run(STEPS)
                await users.heal()
                await cluster.settled(1500)
                await cluster.until(users.converged, 3000, 15)
                await cluster.advance(QUIET_SECONDS)
                async with Quiet(cluster.store) as quiet:
                    await cluster.advance(QUIET_SECONDS)
                assert await users.differences() == []
                assert quiet.writes == [], "a settled system writes nothing but heartbeats"
                assert cluster.gauges.violations == []
                assert invariants.violations == []
                looks.append(cluster.gauges.looks)
                assert cluster.faults.refused == [], "each part has the rights that it needs"
            except AssertionError as error:
                told = [*users.log, *await users.differences(), *cluster.gauges.violations[:10], *invariants.violations[:10]]
                error.add_note("\n".join([f"seed {seed}", *told]))
                raise
