"""Authorisers in a row. Source: apiserver `authorization/union`, `endpoints/filters/authorization.go`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.attributes import denied
from setpoint.apiserver.authorization.decision import ALLOWED, NO_OPINION, Authorizer, Decision, ListsRules, Rules
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo

MASTERS = "system:masters"
#: subresources of pods that take over the connection: by GET, too, they change what runs (feature
#: AuthorizePodWebsocketUpgradeCreatePermission)
_STREAMS = frozenset(("exec", "attach", "portforward"))
_PODS = ("", "pods")
#: how a right begins that the default roles give a controller
_CONTROLLERS = 'RBAC: allowed by ClusterRoleBinding "system:controller:'


class EvaluationFailed(StatusError):
    """An authoriser could not decide, and nobody allowed the request."""


class Masters:
    """The group that may do everything, whatever becomes of the roles."""

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        return ALLOWED if MASTERS in user.groups else NO_OPINION


class AlwaysAllow:
    """Everyone may do everything."""

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        return ALLOWED

    def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return Rules([everything], [{"verbs": ["*"], "nonResourceURLs": ["*"]}])


class AlwaysDeny:
    """Nobody may do anything by this one; others may still allow it."""

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        return Decision(None, "Everything is forbidden.")


class Union:
    """Asks one after the other until one allows or denies."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self.authorizers = tuple(authorizers)

    async def authorize(self, request: Request, info: RequestInfo) -> None:
        """Pass, or raise StatusError 403; 500 where somebody who might have allowed it could not decide.

        What was decided stays in `info.decision`.
        """
        user, asked = request.user, info
        decision = await self.decide(user, info)
        if decision.allowed and info.subresource in _STREAMS and info.verb == "get" and (info.group, info.resource) == _PODS:
            asked = replace(info, verb="create")
            decision = await self.decide(user, asked)
        if not decision.allowed and info.verb == "patch":
            decision = await self._as_update(user, info) or decision
        info.decision = decision
        if decision.allowed:
            return
        if decision.error:
            raise EvaluationFailed(500, "InternalError", f'Internal Server Error: "{info.path}": {decision.error}', {})
        raise denied(user, asked, decision.reason)

    async def _as_update(self, user: UserInfo, info: RequestInfo) -> Decision | None:
        """The same right by another verb: Kubernetes' controllers replace what ours patch, and the default roles say so."""
        decision = await self.decide(user, replace(info, verb="update"))
        return decision if decision.allowed and decision.reason.startswith(_CONTROLLERS) else None

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        """What all of them come to."""
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer in self.authorizers:
            found = authorizer.decide(user, info)
            if not isinstance(found, Decision):
                found = await found
            if found.allowed is not None:
                return found
            if found.reason:
                reasons.append(found.reason)
            if found.error:
                errors.append(found.error)
        return Decision(None, "\n".join(reasons), aggregate(errors)) if reasons or errors else NO_OPINION

    def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        """All that a user may in a namespace, as far as authorisers can list it."""
        found = [each.rules_for(user, namespace) for each in self.authorizers if isinstance(each, ListsRules)]
        return Rules(
            [rule for each in found for rule in each.resources],
            [rule for each in found for rule in each.paths],
            any(each.incomplete for each in found),
            aggregate([each.error for each in found if each.error]),
        )


def aggregate(errors: Sequence[str]) -> str:
    """Several errors in one text, each once, as apimachinery's `util/errors` joins them."""
    unique = list(dict.fromkeys(errors))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]" if unique else ""
