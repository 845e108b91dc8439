"""Tokens that somebody else's server judges: it is asked by a TokenReview, and its answers are kept for two minutes.

Source: Kubernetes `plugin/pkg/auth/authenticator/token/webhook`, `authentication/token/cache`.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.kit import logs
from setpoint.kit.clock import Clock

log = logs.get_logger("apiserver.authentication")

#: sends a body to the server; gives status and body of the answer, and raises OSError or TimeoutError
Post = Callable[[bytes], Awaitable[tuple[int, bytes]]]
_KEPT, _SECONDS = 4096, 120.0
_TRIES, _PAUSE = 5, 0.5  # attempts where the server does not answer, and seconds before the second; then half as many again


class Verdict(Struct, frozen=True):
    """What the server said: whose a token is and for whom, or that it is nobody's and why."""

    user: UserInfo | None
    audiences: tuple[str, ...] = ()
    error: str = ""


class WebhookTokens:
    """Asks for every token that nobody before knew. `own` is the audience of this server."""

    def __init__(self, post: Post, clock: Clock, *, own: str) -> None:
        self._post = post
        self._clock = clock
        self._own = own
        self._kept: OrderedDict[bytes, tuple[Verdict, float]] = OrderedDict()

    async def user_of(self, token: str) -> UserInfo | None:
        """The token's user; None for a token that is nobody's here."""
        found = await self.user_for(token, (self._own,))
        return found[0] if found is not None else None

    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        """The token's user and those of the audiences that it is for; Rejected with the server's reason, if it has one."""
        verdict = await self._verdict(token, audiences)
        if verdict.user is None:
            if verdict.error:
                raise Rejected(verdict.error)
            return None
        held = verdict.audiences or (self._own,)
        meant = [audience for audience in audiences if audience in held]
        return (verdict.user, meant) if meant else None

    async def _verdict(self, token: str, audiences: Sequence[str]) -> Verdict:
        key = hashlib.sha256("\0".join((token, *audiences)).encode()).digest()  # no token is kept
        held = self._kept.get(key)
        if held is not None and self._clock.monotonic() < held[1]:
            return held[0]
        verdict = await self._asked(token, audiences)
        self._kept[key] = (verdict, self._clock.monotonic() + _SECONDS)
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return verdict

    async def _asked(self, token: str, audiences: Sequence[str]) -> Verdict:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": list(audiences)},
        }
        body, pause, said = orjson.dumps(review), _PAUSE, ""
        for attempt in range(_TRIES):
            if attempt:
                await self._clock.sleep(pause)
                pause *= 1.5
            try:
                status, answer = await self._post(body)
            except (OSError, TimeoutError) as error:
                said = type(error).__name__
                continue
            if status in (200, 201):
                return _read(answer)
            said = f"status {status}"
            if status < 500 and status != 429:
                break
        log.warning("the webhook for tokens gave no answer", error=said)
        raise Rejected("the webhook for tokens gave no answer")


def _read(answer: bytes) -> Verdict:
    """The verdict in a TokenReview."""
    try:
        status: Mapping[str, Any] = orjson.loads(answer)["status"]
        if not status.get("authenticated"):
            return Verdict(None, (), str(status.get("error") or ""))
        user = status["user"]
        extra = {str(name): tuple(map(str, values)) for name, values in (user.get("extra") or {}).items()}
        groups = tuple(map(str, user.get("groups") or ()))
        found = UserInfo(str(user["username"]), str(user.get("uid") or ""), groups, extra)
        return Verdict(found, tuple(map(str, status.get("audiences") or ())))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Rejected("the webhook for tokens answered no TokenReview") from error
