"""What an authoriser says, and the protocols of those who can be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.routing import RequestInfo


class Decision(Struct, frozen=True):
    """`allowed` is None where there is no opinion; False denies, and then nobody else is asked.

    `error` is what went wrong meanwhile, which an opinion of others may make unimportant.
    """

    allowed: bool | None
    reason: str = ""
    error: str = ""


ALLOWED = Decision(True)
NO_OPINION = Decision(None)

Rule = Mapping[str, Any]


class Rules(Struct, frozen=True):
    """What a user may do in a namespace, as far as it can be listed."""

    resources: Sequence[Rule] = ()
    paths: Sequence[Rule] = ()
    incomplete: bool = False
    error: str = ""


class Authorizer(Protocol):
    """One way to decide, at once if it can. Of a list or watch, `info.selected` is the name that its field selector gives."""

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision | Awaitable[Decision]: ...


class UnionAuthorizer(Protocol):
    """All of a server's authorisers, asked in turn until one decides."""

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision: ...


@runtime_checkable
class ListsRules(Protocol):
    """An authoriser that can tell all that a user may."""

    def rules_for(self, user: UserInfo, namespace: str) -> Rules: ...
