"""Tokens that another server judges."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.apiserver.authentication.webhook import WebhookTokens
from setpoint.kit.clock import VirtualClock

OWN = "https://own"


class Judge:
    """Answers with what it was given; `codes` come first."""

    def __init__(self, status: Any, *codes: int) -> None:
        self.status = status
        self.codes = list(codes)
        self.asked: list[Any] = []

    async def post(self, body: bytes) -> tuple[int, bytes]:
        self.asked.append(orjson.loads(body))
        code = self.codes.pop(0) if self.codes else 200
        if code == 0:
            raise ConnectionError("nobody there")
        return code, orjson.dumps({"status": self.status})


def tokens(judge: Judge) -> tuple[WebhookTokens, VirtualClock]:
    clock = VirtualClock()
    return WebhookTokens(judge.post, clock, own=OWN), clock


async def test_the_servers_user_is_ours_for_two_minutes() -> None:
    user = {"username": "jane", "uid": "1", "groups": ["dev"], "extra": {"a": ["b"]}}
    judge = Judge({"authenticated": True, "user": user})
    found, clock = tokens(judge)
    for _ in range(2):
        assert await found.user_of("t") == UserInfo("jane", "1", ("dev",), {"a": ("b",)})
    assert judge.asked == [
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "t", "audiences": [OWN]}}
    ]
    clock.jump(121)
    await found.user_of("t")
    assert len(judge.asked) == 2


async def test_audiences_are_the_servers_word() -> None:
    found, _ = tokens(Judge({"authenticated": True, "user": {"username": "jane"}, "audiences": ["vault"]}))
    assert await found.user_of("t") is None
    assert await found.user_for("t", ["x", "vault"]) == (UserInfo("jane"), ["vault"])


async def test_refusals_are_kept_with_their_reason() -> None:
    judge = Judge({"authenticated": False, "error": "gone"})
    found, _ = tokens(judge)
    for _ in range(2):
        with pytest.raises(Rejected, match="gone"):
            await found.user_of("t")
    assert len(judge.asked) == 1
    assert await tokens(Judge({"authenticated": False}))[0].user_of("t") is None


@pytest.mark.parametrize("status", [None, "x", {"authenticated": True}, {"authenticated": True, "user": {"groups": ["a"]}}])
async def test_nonsense_lets_nobody_in(status: Any) -> None:
    with pytest.raises(Rejected, match="answered no TokenReview"):
        await tokens(Judge(status))[0].user_of("t")


async def test_a_server_that_does_not_answer_is_asked_again_and_then_nobody_is_let_in() -> None:
    judge = Judge({"authenticated": False}, 401)
    with pytest.raises(Rejected, match="no answer"):
        await tokens(judge)[0].user_of("t")
    assert len(judge.asked) == 1
