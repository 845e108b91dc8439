"""A day in a cluster of 200 nodes and 3,000 pods, and all that happens to them; or an hour in a small one.

SETPOINT_DAY says how many hours of the large one; without it, it is one of the small one.
"""

from __future__ import annotations

import os
import time

import pytest

from setpoint.testing.beside import Beside
from setpoint.testing.day import Care, Day, Size, day_cluster, seldom_collected
from setpoint.testing.invariants import Quiet

HOURS = float(os.environ.get("SETPOINT_DAY", "1"))
SIZE = Size() if "SETPOINT_DAY" in os.environ else Size(nodes=30, teams=2, deployments=5, replicas=12)
QUIET_SECONDS = 330.0


@pytest.mark.timeout(300 + 300 * HOURS)
async def test_a_day_in_a_cluster() -> None:
    with seldom_collected():
        async with day_cluster(SIZE) as cluster, Beside(cluster.store, cluster.clock, Care) as care:
            day, spent = Day(cluster, SIZE), {}
            try:
                for name, part in (("begin", day.begin), ("run", lambda: day.run(HOURS)), ("end", day.end)):
                    before = time.process_time()
                    await part()
                    spent[name] = time.process_time() - before
                assert await day.differences() == []
                async with Quiet(cluster.store) as quiet:
                    await cluster.advance(QUIET_SECONDS)
                assert quiet.writes == [], "a settled system writes nothing but heartbeats"
                assert care.violations() == []
            except AssertionError as error:
                error.add_note("\n".join([*day.log, *await day.differences(), *care.violations()[:10]]))
                raise
    print(f"\n{HOURS:g} h: {spent}, {spent['run'] / HOURS:.1f} s of the processor an hour, {len(day.log)} events")  # noqa: T201  # the figure, shown with -s
