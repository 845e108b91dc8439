"""Random StatefulSets, DaemonSets, Jobs and CronJobs in random trouble: each ends as declared, counted exactly, and quiet.

SETPOINT_SEEDS says which seeds: a number of them, or a range such as 40-60.
"""

from __future__ import annotations

import os

import pytest

from setpoint.testing.cluster import VirtualCluster
from setpoint.testing.invariants import Quiet
from setpoint.testing.workloads import Exactness, Workloads, stages

STEPS = 40
QUIET_SECONDS = 330.0
PERIODS = 30.0  # seconds in which loops that look every few seconds, or that pause after an error, come to their turn


def seeds() -> range:
    first, _, last = os.environ.get("SETPOINT_SEEDS", "2").rpartition("-")
    return range(int(first or 0), int(last))


@pytest.mark.parametrize("seed", seeds())
async def test_whatever_happens_each_workload_ends_as_declared(seed: int) -> None:
    async with VirtualCluster(seed=seed, stages=stages) as cluster:
        workloads = Workloads(cluster)
        async with Exactness(cluster.store, cluster.clock, lambda: cluster.faults.lost_creates("pods")) as invariants:
            try:
                await workloads.run(STEPS)
                await workloads.heal()
                await cluster.settled(1500)
                await cluster.until(workloads.converged, 3000)
                await cluster.advance(PERIODS)
                await cluster.settled()
                async with Quiet(cluster.store) as quiet:
                    await cluster.advance(QUIET_SECONDS)
                assert await workloads.differences() == []
                assert quiet.writes == [], "a settled system writes nothing but heartbeats"
                assert invariants.violations == []
                assert cluster.faults.refused == [], "each part has the rights that it needs"
            except AssertionError as error:
                differences = await workloads.differences()
                error.add_note("\n".join([f"seed {seed}", *workloads.log, *differences, *invariants.violations[:10]]))
                raise
