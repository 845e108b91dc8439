"""Who writes a policy or a binding must be able to read its parameters: what a policy says of them would tell.

Checked once the object is valid in itself, and answered as one more mistake in it.
Source: `pkg/registry/admissionregistration/{validating,mutating}admissionpolicy{,binding}/authz.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError, forbidden, invalid_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.decision import UnionAuthorizer
from setpoint.apiserver.authorization.union import MASTERS
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.matching import GROUP
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline

Json = Mapping[str, Any]
_POLICIES = frozenset(f"{kind}admissionpolicies.{GROUP}" for kind in ("validating", "mutating"))
#: the policies that bindings are of
_BINDINGS = {f"{kind}admissionpolicybindings.{GROUP}": f"{kind}admissionpolicies.{GROUP}" for kind in ("validating", "mutating")}


class _Asked(Struct, frozen=True):
    """What rights are about; `problem` says why they are about more than they would have to be."""

    group: str = "*"
    version: str = "*"
    resource: str = "*"
    problem: str = ""


class ParamRights(BaseStep):
    """A step that knows nothing of what is served until `serve`."""

    pipeline: Pipeline

    def __init__(self, reader: Reader, authorizer: UnionAuthorizer) -> None:
        self._reader = reader
        self._authorizer = authorizer

    def serve(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (
            operation in ("CREATE", "UPDATE") and not subresource and (group_resource in _POLICIES or group_resource in _BINDINGS)
        )

    async def validate(self, request: AdmissionRequest) -> None:
        if MASTERS in request.context.user.groups:
            return
        is_policy = request.resource.group_resource in _POLICIES
        why = await (self._policy(request) if is_policy else self._binding(request))
        if why:
            error = forbidden("spec.paramKind" if is_policy else "spec.paramRef", why)
            raise invalid_object(request.resource.group, request.resource.kind, request.name, [error])

    async def _policy(self, request: AdmissionRequest) -> str:
        kind = _spec(request.obj).get("paramKind")
        if kind is None or kind == _spec(request.old).get("paramKind"):
            return ""
        user, asked = request.context.user, self._asked(kind)
        if await self._may(user, "get", asked, "*", "*"):
            return ""
        what = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
        return f'user {go_user(user)} must have "get" permission on all objects of the referenced paramKind {what}'

    async def _binding(self, request: AdmissionRequest) -> str:
        """Any update is asked about anew, as Kubernetes does it."""
        spec = _spec(request.obj)
        reference = spec.get("paramRef")
        if reference is None:
            return ""
        user, name = request.context.user, spec.get("policyName", "")
        asked = await self._bound(_BINDINGS[request.resource.group_resource], name)
        own = reference.get("name") or ""
        verb = "get" if own else "list"
        if await self._may(user, verb, asked, own, reference.get("namespace") or ""):
            return ""
        if request.resource.plural.startswith("mutating"):  # Kubernetes has the two the wrong way round
            return f'user {verb} does not have "{go_user(user)}" permission on the object referenced by paramRef'
        if asked.problem:
            lacking = f'user {go_user(user)} does not have "{verb}" permission for all groups, versions and resources'
            return f"{asked.problem} to determine minimum required permissions and {lacking}"
        return f'user {go_user(user)} does not have "{verb}" permission on the object referenced by paramRef'

    async def _bound(self, policies: str, name: str) -> _Asked:
        policy = await self._reader.get(policies, "", name)
        if policy is None:
            return _Asked(problem=f"unable to get policy {name}")
        kind = _spec(policy).get("paramKind")
        return _Asked() if kind is None else self._asked(kind)

    def _asked(self, kind: Json) -> _Asked:
        group, _, version = kind.get("apiVersion", "").rpartition("/")
        for served in self.pipeline.router.served():
            resource = served.resource
            if (resource.group, served.version, resource.kind) == (group, version, kind.get("kind")):
                return _Asked(group, version, resource.plural)
        shown = f"&{{{kind.get('apiVersion', '')} {kind.get('kind', '')}}}"
        return _Asked(group, version, problem=f"unable to resolve paramKind {shown}")

    async def _may(self, user: UserInfo, verb: str, asked: _Asked, name: str, namespace: str) -> bool:
        info = RequestInfo(
            is_resource=True,
            path="",
            verb=verb,
            group=asked.group,
            version=asked.version,
            namespace=namespace,
            resource=asked.resource,
            name=name,
        )
        try:
            return bool((await self._authorizer.decide(user, info)).allowed)
        except StatusError:
            return False


def _spec(obj: Json | None) -> Json:
    found: Json = (obj or {}).get("spec") or {}
    return found


def go_user(user: UserInfo) -> str:
    """As Go prints one."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
