"""A slow worker finds the latest state of its pod, and every end."""

from __future__ import annotations

import asyncio

from tests.node.pods import deleted, pod

from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.inbox import CAPACITY, Inbox

OLD = m.PodChanged(pod(meta={"resourceVersion": "1"}))
NEW = m.PodChanged(pod(meta={"resourceVersion": "2"}))
DELETED = m.PodChanged(deleted(pod(), 5))


async def _drained(inbox: Inbox) -> list[m.Event]:
    inbox.post(m.Tick())
    found: list[m.Event] = []
    while not isinstance(event := await inbox.receive(), m.Tick):
        found.append(event)
    return found


async def test_of_waiting_updates_the_latest_is_left_at_the_place_of_the_first() -> None:
    inbox = Inbox()
    for event in (m.VolumesReady(), OLD, m.SandboxLost(), NEW, DELETED, m.SandboxStopped()):
        inbox.post(event)
    assert await _drained(inbox) == [m.VolumesReady(), DELETED, m.SandboxLost(), m.SandboxStopped()]


async def test_an_update_after_one_that_was_taken_waits_in_its_own_place() -> None:
    inbox = Inbox()
    inbox.post(OLD)
    assert await inbox.receive() == OLD
    inbox.post(m.SandboxLost())
    inbox.post(NEW)
    assert await _drained(inbox) == [m.SandboxLost(), NEW]


async def test_any_number_of_updates_loses_no_end() -> None:
    inbox = Inbox()
    for _ in range(CAPACITY + 1):
        inbox.post(NEW)
    inbox.post(DELETED)
    inbox.post(m.PodGone())
    assert await _drained(inbox) == [DELETED, m.PodGone()]


async def test_a_receiver_that_is_cancelled_leaves_the_update() -> None:
    inbox = Inbox()
    receiver = asyncio.ensure_future(inbox.receive())
    await asyncio.sleep(0)
    inbox.post(OLD)
    receiver.cancel()
    await asyncio.gather(receiver, return_exceptions=True)
    inbox.post(NEW)
    assert await _drained(inbox) == [NEW]


async def test_what_is_posted_after_the_end_is_dropped() -> None:
    inbox = Inbox()
    inbox.close()
    inbox.post(m.PodGone())
    assert inbox.closed
