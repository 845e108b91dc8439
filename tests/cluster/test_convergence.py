"""Random users, random faults, restarts: whatever happens, the declared state is reached, and then there is silence.

SETPOINT_SEEDS says which seeds: a number of them, or a range such as 40-60.
"""

from __future__ import annotations

import os

import pytest

from setpoint.testing.chaos import Chaos
from setpoint.testing.cluster import VirtualCluster
from setpoint.testing.invariants import Invariants, Quiet

STEPS = 40
QUIET_SECONDS = 330.0
"""Longer than any period of the system: the node status that is reported every five minutes, and tolerations of 300 seconds."""


def seeds() -> range:
    first, _, last = os.environ.get("SETPOINT_SEEDS", "40").rpartition("-")
    return range(int(first or 0), int(last))


@pytest.mark.parametrize("seed", seeds())
async def test_whatever_happens_the_declared_state_is_reached(seed: int) -> None:
    async with VirtualCluster(seed=seed) as cluster:
        chaos = Chaos(cluster)
        async with Invariants(cluster.store, cluster.clock, lambda: cluster.faults.lost_creates("pods")) as invariants:
            try:
                await chaos.run(STEPS)
                await chaos.heal()
                await cluster.settled(1500)
                await cluster.until(chaos.converged, 1500)
                await cluster.settled()
                assert await chaos.differences() == []
                async with Quiet(cluster.store) as quiet:
                    await cluster.advance(QUIET_SECONDS)
                assert quiet.writes == [], "a settled system writes nothing but heartbeats"
                assert invariants.violations == []
                assert cluster.faults.refused == []
            except AssertionError as error:
                error.add_note("\n".join([f"seed {seed}", *chaos.log, *await chaos.differences(), *invariants.violations[:10]]))
                raise
