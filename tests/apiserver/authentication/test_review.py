"""What a TokenReview finds: tokens that name their audience, and those that do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver.authentication import Anonymous, Authentication, bearer_token, complaint
from setpoint.apiserver.authentication.rejected import Rejected

OWN = "https://server.example"
GROUPS = ("system:authenticated",)


class Plain:
    async def user_of(self, token: str) -> UserInfo | None:
        return UserInfo("plain") if token == "plain" else None


class Meant(Plain):
    async def user_for(self, token: str, audiences: Sequence[str]) -> tuple[UserInfo, list[str]] | None:
        return (UserInfo("meant"), ["vault"]) if token == "meant" and "vault" in audiences else None


async def test_a_token_without_audience_is_for_the_server() -> None:
    found = Authentication([Meant(), Plain()])
    assert await found.review("plain", ["a", OWN], OWN) == (UserInfo("plain", groups=GROUPS), [OWN])
    with pytest.raises(Rejected, match=r"^invalid bearer token$"):
        await found.review("plain", ["a"], OWN)


async def test_a_token_is_for_whom_it_names() -> None:
    found = Authentication([Plain(), Meant()])
    assert await found.review("meant", ["a", "vault"], OWN) == (UserInfo("meant", groups=GROUPS), ["vault"])
    with pytest.raises(Rejected):
        await found.review("meant", [OWN], OWN)


async def test_no_token_is_nobody() -> None:
    assert await Authentication([Plain()]).review("", ["a", "b"], OWN) == (ANONYMOUS, ["a", "b"])
    with pytest.raises(Rejected, match=r"^$"):
        await Authentication([Plain()], anonymous=Anonymous(enabled=False)).review("", [OWN], OWN)


class Void(Plain):
    async def user_of(self, token: str) -> UserInfo | None:
        raise Rejected("service account token has expired")


async def test_reasons_are_told_in_reviews_and_nowhere_else() -> None:
    found = Authentication([Void(), Plain()])
    with pytest.raises(Rejected, match=r"^\[invalid bearer token, service account token has expired\]$"):
        await found.review("other", [OWN], OWN)
    assert await found.review("plain", [OWN], OWN) == (UserInfo("plain", groups=GROUPS), [OWN])
    with pytest.raises(StatusError) as refusal:
        await found.authenticate("/", {"authorization": "Bearer other"}, None)
    assert refusal.value.message == "Unauthorized"


@pytest.mark.parametrize(
    ("header", "token", "warned"),
    [
        ("Bearer t", "t", False),
        ("bearer t", "t", False),
        ("BEARER t u", "t", False),
        ("Bearer  t", "", True),
        ("Bearer ", "", False),
        ("Bearer", "", False),
        ("Basic  t", "", False),
        ("t", "", False),
    ],
)
def test_what_is_a_bearer_token(header: str, token: str, warned: bool) -> None:
    assert bearer_token(header) == token
    assert bool(complaint(header)) == warned
