"""The rights that writing a claim's status needs beside that on the status as such."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.claim_status import ClaimStatusRights
from setpoint.apiserver.authorization.decision import Decision
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Context
from setpoint.registry.table import RESOURCES

_CLAIMS = next(each for each in RESOURCES if each.plural == "resourceclaims")
_DRIVER = UserInfo("system:serviceaccount:d:driver", extra={"authentication.kubernetes.io/node-name": ("n",)})
_DEVICE = {"driver": "a.example", "pool": "p", "device": "x"}

Right = tuple[str, str, str, str]


class Rights:
    """A door that allows what is listed: subresource, verb, namespace and name."""

    def __init__(self, *allowed: Right) -> None:
        self._allowed = set(allowed)

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        assert (info.group, info.resource) == ("resource.k8s.io", "resourceclaims")
        return Decision((info.subresource, info.verb, info.namespace, info.name) in self._allowed or None)


def status(*devices: dict[str, Any], node: str = "") -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {**({"allocation": {"nodeSelector": selector}} if node else {}), "devices": list(devices)}


async def ask(rights: Rights, new: dict[str, Any], old: dict[str, Any], kind: str = "UpdateOptions") -> None:
    request = AdmissionRequest(
        "UPDATE",
        _CLAIMS,
        "v1",
        Context(_DRIVER, now=0.0),
        namespace="d",
        name="c",
        subresource="status",
        obj={"metadata": {"name": "c"}, "status": new},
        old={"metadata": {"name": "c"}, "status": old},
        options={"kind": kind},
    )
    await ClaimStatusRights(rights).validate(request)


def causes(error: StatusError) -> list[dict[str, str]]:
    found: list[dict[str, str]] = (error.details or {})["causes"]
    return found


BIND: Right = ("binding", "update", "", "")
HERE: Right = ("driver", "associated-node:update", "d", "a.example")
ANYWHERE: Right = ("driver", "arbitrary-node:update", "d", "a.example")


@pytest.mark.parametrize(
    ("rights", "new", "old", "refused"),
    [
        ((), status(_DEVICE, node="n"), status(_DEVICE, node="n"), []),
        ((BIND,), status(node="n"), status(), []),
        ((), status(node="n"), status(), ["status"]),
        ((), {"reservedFor": [{"name": "p"}]}, {}, ["status"]),
        ((HERE,), status(_DEVICE, node="n"), status(node="n"), []),
        ((HERE,), status(_DEVICE, node="m"), status(node="m"), ["status.devices"]),
        ((HERE,), status(_DEVICE), status(), ["status.devices"]),
        ((ANYWHERE,), status(_DEVICE), status(), []),
        ((ANYWHERE,), status(), status(_DEVICE), []),
        ((), status({**_DEVICE, "data": {}}), status({**_DEVICE, "data": {"a": 1}}), ["status.devices"]),
        ((ANYWHERE,), status(_DEVICE, {**_DEVICE, "driver": "b.example"}, node="n"), {}, ["status", "status.devices"]),
    ],
)
async def test_what_changes_needs_its_right(
    rights: tuple[Right, ...], new: dict[str, Any], old: dict[str, Any], refused: list[str]
) -> None:
    if not refused:
        await ask(Rights(*rights), new, old)
        return
    with pytest.raises(StatusError) as caught:
        await ask(Rights(*rights), new, old)
    assert [cause["field"] for cause in causes(caught.value)] == refused


async def test_a_patch_needs_the_right_to_patch() -> None:
    with pytest.raises(StatusError) as caught:
        await ask(Rights(BIND), status(_DEVICE, node="n"), {}, "PatchOptions")
    first, second = (cause["message"] for cause in causes(caught.value))
    whose, where = f'User "{_DRIVER.name}" cannot', 'in API group "resource.k8s.io"'
    assert first == (
        'Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch"'
        f' permission: resourceclaims.resource.k8s.io is forbidden: {whose} patch resource "resourceclaims/binding" {where}'
        " at the cluster scope"
    )
    assert second == (
        'Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[associated-node:patch'
        f' arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "a.example" is forbidden: {whose}'
        f' associated-node:patch resource "resourceclaims/driver" {where} in the namespace "d"'
    )
