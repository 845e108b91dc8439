from __future__ import annotations

import asyncio
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.controllers.owned_pods.control import PodControl
from setpoint.kit.clock import VirtualClock
from setpoint.testing.objects import pod


class Server:
    """Makes so many pods, then refuses, or (`hangs`) does not answer; deletes nothing."""

    def __init__(self, makes: int, *, hangs: bool = False) -> None:
        self.left = makes
        self.hangs = hangs

    async def create(self, *_: Any) -> Any:
        self.left -= 1
        if self.left >= 0:
            return pod("made")
        if self.hangs:
            await asyncio.Event().wait()
        raise StatusError(403, "Forbidden", "no more")

    async def delete(self, *_: Any, **__: Any) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        raise StatusError(403, "Forbidden", "no")


class Events:
    def event(self, *_: Any, **__: Any) -> None:
        """Nobody listens."""


def control(server: Any) -> tuple[PodControl, Expectations]:
    expectations = Expectations(VirtualClock())
    events: Any = Events()
    return PodControl(server, events, expectations), expectations


OWNER = pod("owner")
KEY = key_of(OWNER)


async def test_only_what_was_made_is_expected() -> None:
    pods, expectations = control(Server(3))
    made, failure = await pods.create_counted(OWNER, [{}] * 10)
    assert (made, str(failure)) == (3, "no more")
    expectations.creation_observed(KEY, 2)
    assert not expectations.satisfied(KEY)
    expectations.creation_observed(KEY)
    assert expectations.satisfied(KEY)


async def test_what_was_refused_to_be_deleted_is_not_expected_to_go() -> None:
    pods, expectations = control(Server(0))
    assert str(await pods.delete(OWNER, [pod("a"), pod("b")])) == "no"
    assert expectations.satisfied(KEY)


@pytest.mark.parametrize("what", ["create", "delete"])
async def test_cut_off_nobody_trusts_the_cache(what: str) -> None:
    pods, expectations = control(Server(1, hangs=True))
    call = pods.create(OWNER, [{}, {}]) if what == "create" else pods.delete(OWNER, [pod("a")])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(call, 0.01)
    assert not expectations.satisfied(KEY)
