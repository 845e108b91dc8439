"""Where names of pods, services and nodes lead, and where they do not."""

from __future__ import annotations

import asyncio
import socket

import pytest
from tests.apiserver.object_proxy.conftest import PODS, SERVICES, Door

from setpoint.apiserver import reach


async def test_a_pod_is_reached_at_its_first_port_or_the_one_that_is_named(door: Door) -> None:
    await door.pod()
    for name in ("web", f"web:{door.web.port}", f"http:web:{door.web.port}"):
        assert (await door.ask(f"{PODS}/{name}/proxy/x"))[:2] == (200, "GET /x")


async def test_a_service_is_reached_at_a_pod_of_its_own_by_number_or_name_of_a_port(door: Door) -> None:
    await door.pod()
    await door.service()
    for name in ("web:80", "web:http", "http:web:http"):
        assert (await door.ask(f"{SERVICES}/{name}/proxy/x"))[:2] == (200, "GET /x")


async def test_pods_that_cannot_be_reached(door: Door) -> None:
    await door.pod("young", address="")
    await door.pod("loopback", address="127.0.0.1")
    await door.pod("metadata", address="169.254.169.254")
    for name, expected in (
        ("none", (404, "NotFound", 'pods "none" not found')),
        ("ftp:web:21", (400, "BadRequest", 'invalid pod request "ftp:web:21"')),
        ("a:b:c:d", (400, "BadRequest", 'invalid pod request "a:b:c:d"')),
        (":80", (400, "BadRequest", 'invalid pod request ":80"')),
        ("young", (400, "BadRequest", "address not allowed")),
        ("loopback:80", (400, "BadRequest", "address not allowed")),
        ("metadata:80", (400, "BadRequest", "address not allowed")),
    ):
        assert await door.refusal(f"{PODS}/{name}/proxy/") == expected


async def test_services_that_cannot_be_reached(door: Door) -> None:
    await door.pod()
    await door.service()
    await door.service("tired", ready=False)
    await door.service("liar", address="127.64.0.1")  # not the pod's
    await door.service("stranger", pod="none")
    for name in ("alone", "empty"):
        meta = {"name": name, "namespace": "default"}
        await door.put(f"services/default/{name}", {"metadata": meta, "spec": {"ports": [{"name": "http", "port": 80}]}})
    await door.put("endpoints/default/empty", {"metadata": {"name": "empty", "namespace": "default"}})
    for name, expected in (
        ("none", (404, "NotFound", 'endpoints "none" not found')),
        ("none:80", (404, "NotFound", 'services "none" not found')),
        ("alone:http", (404, "NotFound", 'endpoints "alone" not found')),
        ("empty:http", (503, "ServiceUnavailable", 'no endpoints available for service "empty"')),
        ("web:81", (503, "ServiceUnavailable", 'no service port 81 found for service "web"')),
        ("web:90", (503, "ServiceUnavailable", 'no endpoints available for service "web:90"')),
        ("web", (503, "ServiceUnavailable", 'no endpoints available for service "web"')),
        ("tired:http", (503, "ServiceUnavailable", 'no endpoints available for service "tired:http"')),
        ("liar:http", (503, "ServiceUnavailable", 'no endpoints available for service "liar:http"')),
        ("stranger:http", (503, "ServiceUnavailable", 'no endpoints available for service "stranger:http"')),
        ("ftp:web:80", (400, "BadRequest", 'invalid service request "ftp:web:80"')),
    ):
        assert await door.refusal(f"{SERVICES}/{name}/proxy/") == expected


async def test_nobody_answers(door: Door) -> None:
    await door.pod()
    code, reason, message = await door.refusal(f"{PODS}/web:1/proxy/")
    assert (code, reason) == (503, "ServiceUnavailable")
    assert message == "error trying to reach service: dial tcp 127.64.3.7:1: connect: connection refused"
    code, _, message = await door.refusal(f"{PODS}/https:web:{door.web.port}/proxy/")
    assert message == "error trying to reach service: http: server gave HTTP response to HTTPS client"
    assert (await door.refusal(f"{PODS}/web:999999/proxy/"))[:2] == (503, "ServiceUnavailable")
    assert (await door.refusal(f"{PODS}/web:x/proxy/"))[:2] == (503, "ServiceUnavailable")


async def test_nodes_are_reached_at_other_ports_unless_they_are_loopback(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind, address in (
        ("n", "InternalIP", "127.64.3.7"),
        ("l", "InternalIP", "127.0.0.1"),
        ("h", "Hostname", "l.example"),
    ):
        status = {"addresses": [{"type": kind, "address": address}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}
        await door.put(f"nodes/{name}", {"metadata": {"name": name}, "spec": {}, "status": status})
    assert (await door.ask(f"/api/v1/nodes/n:{door.web.port}/proxy/x"))[:2] == (200, "GET /x")
    assert await door.refusal(f"/api/v1/nodes/l:{door.web.port}/proxy/x") == (400, "BadRequest", "address not allowed")
    assert await door.refusal("/api/v1/nodes/none/proxy/x") == (404, "NotFound", 'nodes "none" not found')
    assert (await door.refusal("/api/v1/nodes/n/proxy/x"))[0] == 503  # no agents in this test

    async def resolve(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve, raising=False)
    answer = await door.refusal(f"/api/v1/nodes/h:{door.web.port}/proxy/x")
    assert answer == (503, "ServiceUnavailable", "error trying to reach service: address not allowed")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.128.0.1", "169.254.1.1", "", "name"])
def test_users_are_not_led_to(address: str) -> None:
    with pytest.raises(reach.NotAllowed):
        reach.check_proxied(address)


@pytest.mark.parametrize("address", ["127.64.0.1", "10.244.0.5", "192.0.2.1", "2001:db8::1"])
def test_users_are_led_to(address: str) -> None:
    reach.check_proxied(address)
