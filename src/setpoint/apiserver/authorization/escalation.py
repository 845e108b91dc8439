"""Who may write roles and bindings: only who holds what they give, or has the verb `escalate` or `bind`.

The last mutating step of admission, since it judges what will be stored. It sees updates and patches as a whole: what the old
object gave already counts anew. Source: `pkg/registry/rbac/*/policybased`, `pkg/registry/rbac/escalation_check.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from setpoint.api.machinery.schema.reading import go_quoted as quoted
from setpoint.api.machinery.status import StatusError, bad_request, forbidden_object, not_found
from setpoint.api.machinery.store_names import check_name
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.decision import Rule, UnionAuthorizer
from setpoint.apiserver.authorization.union import MASTERS
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.rbac.escalation import FULL_AUTHORITY, described, missing_rights, quoted_list

GROUP = "rbac.authorization.k8s.io"
_ROLES = frozenset(f"{plural}.{GROUP}" for plural in ("roles", "clusterroles"))
_BINDINGS = frozenset(f"{plural}.{GROUP}" for plural in ("rolebindings", "clusterrolebindings"))
_ROLE_KINDS = {"Role": "roles", "ClusterRole": "clusterroles"}
#: parts of metadata that the garbage collector changes, and what is kept beside them
_COLLECTORS = ("ownerReferences", "finalizers", "managedFields")


class Resolver(Protocol):
    """What bindings give a user."""

    def held(self, user: UserInfo, namespace: str, resource: str = "") -> tuple[list[Rule], list[str]]: ...
    def rules_of(self, namespace: str, name: str) -> Sequence[Rule] | None: ...


class EscalationCheck(BaseStep):
    """Refuses roles and bindings that give more than their writer has."""

    def __init__(self, authorizer: UnionAuthorizer, resolver: Resolver) -> None:
        self._authorizer = authorizer
        self._resolver = resolver

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return operation in ("CREATE", "UPDATE") and group_resource in _ROLES | _BINDINGS

    async def admit(self, request: AdmissionRequest) -> None:
        user, obj = request.context.user, request.obj
        if obj is None or MASTERS in user.groups:
            return
        if request.old is not None and _same_but_for_the_collector(obj, request.old):
            return
        if request.resource.group_resource in _ROLES:
            await self._role(request, obj, user)
        else:
            await self._binding(request, obj, user)

    async def _role(self, request: AdmissionRequest, obj: Mapping[str, Any], user: UserInfo) -> None:
        name = "" if request.options.get("kind") == "CreateOptions" else request.name  # that of the URL, which a POST has not
        if await self._may(user, "escalate", request.resource.plural, name, request.namespace):
            return
        self._confirm(request, obj, user, obj.get("rules") or ())
        if _gathers(obj) or _gathers(request.old or {}):
            held, _ = self._resolver.held(user, request.namespace)
            if missing_rights(held, FULL_AUTHORITY):
                raise _refused(request, obj, "must have cluster-admin privileges to use the aggregationRule")

    async def _binding(self, request: AdmissionRequest, obj: Mapping[str, Any], user: UserInfo) -> None:
        role = obj.get("roleRef") or {}
        kind, name = role.get("kind") or "", role.get("name") or ""
        plural = _ROLE_KINDS.get(kind)
        if plural is not None and await self._may(user, "bind", plural, name, request.namespace):
            return
        if plural is None:
            raise StatusError(500, "", f"unsupported role reference kind: {quoted(kind)}")
        if kind == "Role" and not request.namespace:
            raise bad_request("Namespace parameter required.")
        check_name(name)
        rules = self._resolver.rules_of(request.namespace if kind == "Role" else "", name)
        if rules is None:
            raise not_found(GROUP, request.resource.plural, name)
        self._confirm(request, obj, user, rules)

    def _confirm(self, request: AdmissionRequest, obj: Mapping[str, Any], user: UserInfo, rules: Sequence[Rule]) -> None:
        held, errors = self._resolver.held(user, request.namespace, request.resource.plural)
        missing = missing_rights(held, rules)
        if not missing:
            return
        who = f"user {quoted(user.name)} (groups={quoted_list(user.groups)})"
        why = f"{who} is attempting to grant RBAC permissions not currently held:\n{described(missing)}"
        if errors:
            why += f"; resolution errors: [{errors[0] if len(errors) == 1 else '[' + ', '.join(errors) + ']'}]"
        raise _refused(request, obj, why)

    async def _may(self, user: UserInfo, verb: str, plural: str, name: str, namespace: str) -> bool:
        asked = RequestInfo(
            is_resource=True, path="", verb=verb, group=GROUP, version="*", namespace=namespace, resource=plural, name=name
        )
        return bool((await self._authorizer.decide(user, asked)).allowed)


def _gathers(role: Mapping[str, Any]) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _refused(request: AdmissionRequest, obj: Mapping[str, Any], why: str) -> StatusError:
    """A name that the server makes up is not made yet."""
    name = "" if request.generated_name else obj["metadata"].get("name") or request.name
    return forbidden_object(request.resource.group, request.resource.plural, name, why)


def _same_but_for_the_collector(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a write changes only what the garbage collector needs to change before it can delete."""
    return _without(new) == _without(old)


def _without(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTORS}
    return {**obj, "metadata": metadata}
