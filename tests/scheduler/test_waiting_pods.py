"""Pods that a Permit plugin holds: allowed, rejected, or too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from setpoint.kit.clock import VirtualClock
from setpoint.scheduler.waiting_pods import WaitingPods


def _reject(waiting: WaitingPods) -> None:
    waiting.reject("d/p", "Quorum", "no quorum")


@pytest.mark.parametrize(
    ("decide", "seconds", "reasons", "plugin"),
    [
        (lambda waiting: waiting.allow("d/p"), 0, None, ""),
        (_reject, 0, ("no quorum",), "Quorum"),
        (lambda waiting: waiting.allow("d/other"), 30, ("timed out waiting for permission to bind",), ""),
    ],
    ids=["allowed", "rejected", "late"],
)
async def test_a_pod_is_held_until_somebody_decides(
    decide: Callable[[WaitingPods], None], seconds: float, reasons: tuple[str, ...] | None, plugin: str
) -> None:
    clock = VirtualClock()
    waiting = WaitingPods(clock)
    holding = asyncio.ensure_future(waiting.hold("d/p", 30))
    await clock.idle()
    assert "d/p" in waiting
    decide(waiting)
    await clock.advance(seconds)
    status = await holding
    assert (status.reasons if status else None) == reasons
    assert (status.plugin if status else "") == plugin
    assert "d/p" not in waiting
