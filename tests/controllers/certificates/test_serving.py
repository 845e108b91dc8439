"""Which serving certificates need a person."""

from __future__ import annotations

import pytest

from setpoint.controllers.certificates.requests import Requested
from setpoint.controllers.certificates.serving import Claims, refusal

CLAIMS = Claims(
    frozenset(("127.0.0.1", "192.0.2.7", "192.0.2.8", "10.96.0.9", "192.0.2.1", "2001:db8::7", "n1")),
    servers=frozenset(("api.example.org", "192.0.2.1", "127.0.0.1")),
    others=frozenset(("192.0.2.8",)),
    service_ranges=("10.96.0.0/16",),
)


def asking(*addresses: str, name: str = "n1", names: tuple[str, ...] | None = None) -> Requested:
    return Requested(f"system:node:{name}", ("system:nodes",), (name,) if names is None else names, addresses)


@pytest.mark.parametrize(
    "asked", [asking(), asking("192.0.2.7"), asking("127.0.0.1"), asking("2001:DB8:0::7"), asking("192.0.2.7", names=())]
)
def test_its_own_it_gets(asked: Requested) -> None:
    assert refusal(asked, CLAIMS) == ""


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (asking("192.0.2.9"), "the node does not tell of its address 192.0.2.9"),
        (asking("192.0.2.7", "192.0.2.1"), "192.0.2.1 is an address of the API server"),
        (asking("192.0.2.8"), "192.0.2.8 is an address of another node"),
        (asking("10.96.0.9"), "10.96.0.9 is a service's address"),
        (asking(names=("n1", "n2")), "it asks for names that are not the node's"),
        (asking(name="*.example.org"), "it asks for names that are not the node's"),
        (asking(name="API.example.org"), "it asks for names that are not the node's"),
        (asking(name="api.example.org"), "api.example.org is a name of the API server or of a service"),
        (asking(name="kubernetes"), "kubernetes is a name of the API server or of a service"),
        (asking(name="hook.default.svc"), "hook.default.svc is a name of the API server or of a service"),
    ],
)
def test_others_it_does_not(asked: Requested, why: str) -> None:
    assert refusal(asked, CLAIMS) == why


def test_a_node_that_is_not_registered_waits() -> None:
    assert refusal(asking(), Claims(None)) == "the node is not registered"
