"""What the status of a ResourceClaim says is for some to write: who binds claims, and the drivers of the devices.

Whoever may write the status as such still needs a right on `resourceclaims/binding` to change what is allocated or reserved, and
one on `resourceclaims/driver`, by the driver's name, to change what is reported of devices. There a verb says of which node:
`associated-node:update` suffices for a service account on the node that the devices are on.
Source: `pkg/registry/resource/utils.go` (feature DRAResourceClaimGranularStatusAuthorization).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from setpoint.api.machinery.status import FieldError, StatusError, forbidden, invalid_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.attributes import denied
from setpoint.apiserver.authorization.decision import UnionAuthorizer
from setpoint.apiserver.authorization.union import MASTERS
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.go_form import equal

_CLAIMS = "resourceclaims.resource.k8s.io"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_ACCOUNT = "system:serviceaccount:"

Json = Mapping[str, Any]


class _Device(NamedTuple):
    """What tells reported devices apart."""

    driver: str
    pool: str
    name: str
    share: str


class ClaimStatusRights(BaseStep):
    """Asks for them one by one; answered as mistakes in the object."""

    def __init__(self, authorizer: UnionAuthorizer) -> None:
        self._authorizer = authorizer

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return (operation, group_resource, subresource) == ("UPDATE", _CLAIMS, "status")

    async def validate(self, request: AdmissionRequest) -> None:
        if MASTERS in request.context.user.groups:
            return
        new, old = ((claim or {}).get("status") or {} for claim in (request.obj, request.old))
        verb = "patch" if request.options.get("kind") == "PatchOptions" else "update"
        errors: list[FieldError] = []
        if any(not equal(new.get(field), old.get(field)) for field in ("allocation", "reservedFor")):
            why = await self._lacking(request, [verb], RequestInfo(True, "", verb, subresource="binding"))
            if why:
                what = (
                    f'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="{verb}"'
                )
                errors.append(forbidden("status", f"{what} permission: {why}"))
        verbs = [f"{where}:{verb}" for where in _nodes(request.context.user, new.get("allocation"))]
        for driver in sorted(_changed_drivers(new, old)):
            info = RequestInfo(True, "", verb, namespace=request.namespace, name=driver, subresource="driver")
            why = await self._lacking(request, verbs, info)
            if why:
                what = f'changing status.devices requires resource="resourceclaims/driver", verb="[{" ".join(verbs)}]"'
                errors.append(forbidden("status.devices", f"{what} permission: {why}"))
        if errors:
            raise invalid_object(request.resource.group, request.resource.kind, request.name, errors)

    async def _lacking(self, request: AdmissionRequest, verbs: Sequence[str], info: RequestInfo) -> str:
        """Why none of the verbs is allowed, in the words for the first; empty where one is."""
        user, first = request.context.user, ""
        info.group, info.version, info.resource = request.resource.group, request.version, request.resource.plural
        for info.verb in verbs:
            try:
                decision = await self._authorizer.decide(user, info)
            except StatusError as error:
                first = first or str(denied(user, info, str(error)))
                continue
            if decision.allowed:
                return ""
            first = first or str(denied(user, info, ": ".join(filter(None, (decision.error, decision.reason)))))
        return first


def _nodes(user: UserInfo, allocation: Json | None) -> list[str]:
    """Which rights on a driver count, the narrower one first."""
    names = user.extra.get(_NODE_NAME) or ()
    node = _node_of(allocation or {})
    associated = bool(node) and user.name.startswith(_ACCOUNT) and list(names) == [node]
    return ["associated-node", "arbitrary-node"] if associated else ["arbitrary-node"]


def _node_of(allocation: Json) -> str:
    """The one node that an allocation is for; empty where it is for others, too."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions") or len(terms[0].get("matchFields") or ()) != 1:
        return ""
    field = terms[0]["matchFields"][0]
    values: list[str] = field.get("values") or []
    by_name = (field.get("key"), field.get("operator")) == ("metadata.name", "In")
    return values[0] if by_name and len(values) == 1 else ""


def _changed_drivers(new: Json, old: Json) -> set[str]:
    """The drivers of devices that are new, gone or told of otherwise."""
    after, before = ({_key(device): device for device in status.get("devices") or ()} for status in (new, old))
    return {key.driver for key in after.keys() | before.keys() if not equal(after.get(key), before.get(key))}


def _key(device: Json) -> _Device:
    return _Device(*(device.get(field) or "" for field in ("driver", "pool", "device", "shareID")))
