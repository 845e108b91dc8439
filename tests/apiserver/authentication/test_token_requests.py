"""What a TokenRequest may ask for, and in which order it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.authentication.service_accounts import ServiceAccountTokens
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.authentication.token_requests import TokenRequests
from setpoint.kit.clock import VirtualClock

ACCOUNT = {"metadata": {"name": "a", "namespace": "ns", "uid": "u-1"}}
POD = {"metadata": {"name": "p", "uid": "u-2"}, "spec": {"serviceAccountName": "a", "nodeName": "gone"}}
OTHERS = {"metadata": {"name": "q", "uid": "u-3"}, "spec": {"serviceAccountName": "b"}}


class Objects:
    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return {("pods", "ns", "p"): POD, ("pods", "ns", "q"): OTHERS}.get((group_resource, namespace, name))


@pytest.fixture
def requests(tmp_path: Path) -> TokenRequests:
    clock = VirtualClock()
    (tmp_path / "sa.key").write_text("nothing is signed here")
    return TokenRequests(ServiceAccountTokens(SigningKey(tmp_path), Objects(), clock), Objects(), clock)


@pytest.mark.parametrize(
    ("bound", "code", "why"),
    [
        ({}, 400, "cannot bind token to object of type /, Kind="),
        ({"kind": "Deployment", "apiVersion": "apps/v1"}, 400, "cannot bind token to object of type apps/v1, Kind=Deployment"),
        ({"kind": "Pod"}, 400, "Name parameter required."),
        ({"kind": "Pod", "name": "a%"}, 400, "Name parameter invalid: \"a%\": may not contain '%'"),
        ({"kind": "Pod", "name": "none"}, 404, 'pods "none" not found'),
        ({"kind": "Node", "name": "none"}, 404, 'nodes "none" not found'),
        ({"kind": "Pod", "name": "q", "uid": "x"}, 400, 'cannot bind token for serviceaccount "a" to pod running with different'),
        ({"kind": "Pod", "name": "p", "uid": "x"}, 409, 'Operation cannot be fulfilled on Pod "p": the UID in the bound object'),
    ],
)
async def test_what_a_token_cannot_be_bound_to(requests: TokenRequests, bound: Any, code: int, why: str) -> None:
    with pytest.raises(StatusError) as refusal:
        await requests.issue(ACCOUNT, {"spec": {"boundObjectRef": bound}}, dry_run=True)
    assert refusal.value.code == code
    assert refusal.value.message.startswith(why)


async def test_a_token_of_a_pod_whose_node_is_gone(requests: TokenRequests) -> None:
    asked = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": "u-2"}}}
    answer = await requests.issue(ACCOUNT, asked, dry_run=True)
    assert answer["metadata"]["name"] == "a"


def test_names_are_those_of_the_path(requests: TokenRequests) -> None:
    requests.check_name({"name": "a", "namespace": "ns"}, "ns", "a")
    with pytest.raises(StatusError, match="must match the service account name if specified"):
        requests.check_name({"name": "b"}, "ns", "a")
    with pytest.raises(StatusError, match="does not match the namespace sent on the request"):
        requests.check_name({"namespace": "other"}, "ns", "a")
