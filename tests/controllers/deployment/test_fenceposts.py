from __future__ import annotations

import pytest

from setpoint.controllers.deployment import fenceposts
from setpoint.testing.objects import deployment


@pytest.mark.parametrize(("desired", "surge", "unavailable"), [(1, 1, 0), (5, 2, 1), (6, 2, 1), (10, 3, 2), (4, 1, 1)])
def test_surge_is_rounded_up_and_unavailability_down(desired: int, surge: int, unavailable: int) -> None:
    assert fenceposts.resolve("25%", "25%", desired) == (surge, unavailable)


def test_both_zero_means_one_may_be_missing() -> None:
    assert fenceposts.resolve(0, "1%", 1) == (0, 1)
    assert fenceposts.resolve("0%", 0, 50) == (0, 1)


def test_a_deployment_never_misses_more_than_it_wants() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 10}}
    assert fenceposts.max_unavailable(deployment("d", 3, strategy=rolling)) == 3
    assert fenceposts.max_unavailable(deployment("d", 0, strategy=rolling)) == 0


def test_recreate_has_no_fenceposts() -> None:
    recreate = deployment("d", 10, strategy={"type": "Recreate"})
    assert (fenceposts.max_surge(recreate), fenceposts.max_unavailable(recreate)) == (0, 0)
