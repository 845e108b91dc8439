"""What goes to a pod, and what comes back."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import aiohttp
import pytest
from aiohttp import web
from tests.apiserver.object_proxy.conftest import PODS, SERVICES, Door

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.generic_store.store import NoAdmission
from setpoint.apiserver.object_proxy import forwarding
from setpoint.registry.admission.request import AdmissionRequest

PROXY = f"{PODS}/web/proxy"


async def test_every_method_passes_with_its_path_its_parameters_and_its_body(door: Door) -> None:
    await door.pod()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        body = b"" if method in ("GET", "OPTIONS") else b"given"
        code, text, _ = await door.ask(f"{PROXY}/a%20b//c/?x=1&y=%2F&x", method, data=body or None)
        assert (code, text) == (200, f"{method} /a%20b/c/?x=1&y=%2F&x {body.decode()}".rstrip())


async def test_head_tells_the_length_and_no_more(door: Door) -> None:
    await door.pod()
    code, text, headers = await door.ask(f"{PROXY}/x", "HEAD")
    assert (code, text, headers["Content-Length"]) == (200, "", str(len("HEAD /x")))


async def test_dots_do_not_lead_out_of_the_destination(door: Door) -> None:
    await door.pod()
    code, text, _ = await door.ask(f"{PROXY}/a/%2e%2e/%2e%2e/%2e%2e/secret")
    assert (code, text) == (200, "GET /secret")


async def test_a_pod_sees_neither_credentials_nor_who_asks(door: Door) -> None:
    await door.pod()
    sent = {
        "Authorization": "Bearer secret",
        "X-Remote-User": "root",
        "X-Remote-Group": "system:masters",
        "Cookie": "a=b",
        "Connection": "keep-alive, X-Hop",
        "X-Hop": "1",
        "X-Own": "2",
        "X-Forwarded-For": "192.0.2.1",
        "X-Forwarded-Uri": "/lies",
        "Host": "here.example:1",
    }
    await door.ask(f"{PROXY}/a?b", headers=sent)
    got = door.web.headers
    assert not {"Authorization", "X-Remote-User", "X-Remote-Group", "X-Hop"} & set(got)
    assert (got["Cookie"], got["X-Own"], got["Host"]) == ("a=b", "2", "here.example:1")
    assert got["X-Forwarded-For"] == "192.0.2.1, 127.0.0.1"
    assert got.getall("X-Forwarded-Uri") == [f"{PROXY}/a"]  # type: ignore[attr-defined]  # a multidict


async def test_without_a_slash_the_client_is_sent_to_where_there_is_one(door: Door) -> None:
    await door.pod()
    code, _, headers = await door.ask(f"{PROXY}?x=1")
    assert (code, headers["Location"]) == (301, f"{PROXY}/?x=1")
    code, text, _ = await door.ask(PROXY, "POST", data=b"x")
    assert (code, text) == (200, "POST / x")


async def test_redirects_are_the_clients_and_lead_through_the_proxy(door: Door) -> None:
    await door.pod()

    async def away(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": request.query["to"]})

    door.web.answers["/go"] = away
    for to, location in (
        ("/next?x#y", f"{PROXY}/next?x#y"),
        ("next", "next"),
        (f"http://127.64.3.7:{door.web.port}/next", f"{PROXY}/next"),
        (f"{door.url}/next/", f"{PROXY}/next/"),
        ("http://elsewhere.example/next", "http://elsewhere.example/next"),
    ):
        code, _, headers = await door.ask(f"{PROXY}/go?to={quote(to)}")
        assert (code, headers["Location"]) == (302, location)


async def test_headers_come_back_but_for_those_of_the_connection_and_of_other_origins(door: Door) -> None:
    await door.pod()

    async def many(_: web.BaseRequest) -> web.StreamResponse:
        headers = [
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("Access-Control-Allow-Origin", "*"),
            ("Cache-Control", "max-age=5"),
            ("x-odd", "1"),
            ("Keep-Alive", "timeout=5"),
        ]
        return web.Response(status=418, headers=headers, text="tea")

    door.web.answers["/many"] = many
    code, text, headers = await door.ask(f"{PROXY}/many")
    assert (code, text) == (418, "tea")
    assert headers.getall("Set-Cookie") == ["a=1", "b=2"]  # type: ignore[attr-defined]  # a multidict
    assert (headers["Cache-Control"], headers["X-Odd"]) == ("max-age=5", "1")
    assert not {"Access-Control-Allow-Origin", "Keep-Alive"} & set(headers)


async def test_pages_link_through_the_proxy(door: Door) -> None:
    await door.pod()
    page = '<!DOCTYPE html><a href="/x?a=1&amp;b">1 &amp; 2</a><img src=pic.png/><script>if (a<b) "</a>"</script><p class="/x">'

    async def served(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=page, content_type="text/html")

    door.web.answers["/page"] = served
    _, text, _ = await door.ask(f"{PROXY}/page")
    assert text == page.replace('"/x?a', f'"{PROXY}/x?a')


async def test_what_is_long_comes_as_it_is_sent(door: Door) -> None:
    await door.pod()
    go_on = asyncio.Event()

    async def slowly(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"first")
        await go_on.wait()
        await answer.write(b"second" * 100_000)
        return answer

    door.web.answers["/slow"] = slowly
    async with door.session.get(f"{door.url}{PROXY}/slow") as answer:
        assert await answer.content.readany() == b"first"
        go_on.set()
        assert await answer.read() == b"second" * 100_000


async def test_an_answer_that_breaks_off_does_not_look_whole(door: Door) -> None:
    await door.pod()

    async def broken(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "1000000"})
        await answer.prepare(request)
        await answer.write(b"first")
        assert request.transport is not None
        request.transport.abort()
        return answer

    door.web.answers["/broken"] = broken
    with pytest.raises(aiohttp.ClientPayloadError):
        await door.ask(f"{PROXY}/broken")


async def test_web_sockets_pass(door: Door) -> None:
    await door.pod()
    await door.service()

    async def echo(request: web.BaseRequest) -> web.StreamResponse:
        assert "Authorization" not in request.headers
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(f"back {message.data} by {request.raw_path}")
            break
        await socket.close()
        return socket

    door.web.answers["/echo"] = echo
    for place in (PROXY, f"{SERVICES}/web:http/proxy"):
        async with door.session.ws_connect(f"{door.url}{place}/echo?a=1", headers={"Authorization": "Bearer x"}) as socket:
            await socket.send_str("hello")
            assert await socket.receive_str() == "back hello by /echo?a=1"
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await door.session.ws_connect(f"{door.url}{PROXY}/none")
    assert refused.value.status == 200


async def test_other_upgrades_are_not_passed_and_offers_are_none(door: Door) -> None:
    await door.pod()
    code, _, message = await door.refusal(f"{PROXY}/x", headers={"Connection": "Upgrade", "Upgrade": "SPDY/3.1"})
    assert (code, message) == (400, "unable to upgrade connection: only WebSockets can be passed on")
    assert (await door.ask(f"{PROXY}/x", headers={"Upgrade": "h2c"}))[:2] == (200, "GET /x")
    assert "Upgrade" not in door.web.headers


async def test_a_pod_that_does_not_answer_is_given_up(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    await door.pod()
    monkeypatch.setattr(forwarding, "_HEAD", 0.2)

    async def hang(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    door.web.answers["/hang"] = hang
    assert (await door.refusal(f"{PROXY}/hang"))[:2] == (503, "ServiceUnavailable")


async def test_admission_sees_where_a_request_leads(door: Door) -> None:
    await door.pod()
    seen: list[AdmissionRequest] = []

    class Noting(NoAdmission):
        def concerned(self, operation: str, group_resource: str, subresource: str = "") -> bool:
            return True

        async def validate(self, request: AdmissionRequest) -> None:
            seen.append(request)

    door.pipeline.admission = Noting()
    for path in ("", "/", "/a//b/?x=1"):
        await door.ask(f"{PROXY}{path}", "POST")
    kind = {"kind": "PodProxyOptions", "apiVersion": "v1"}
    assert [each.obj for each in seen] == [kind, {**kind, "path": "/"}, {**kind, "path": "/a//b/"}]
    assert {(each.operation, each.name, each.subresource) for each in seen} == {("CONNECT", "web", "proxy")}


async def test_each_method_is_a_right_of_its_own(door: Door) -> None:
    await door.pod()
    door.user = UserInfo("jane", groups=("system:authenticated",))
    for method, verb in (("GET", "get"), ("POST", "create"), ("PUT", "update"), ("PATCH", "patch"), ("DELETE", "delete")):
        code, reason, message = await door.refusal(f"{PROXY}/x", method)
        assert (code, reason) == (403, "Forbidden")
        what = f'User "jane" cannot {verb} resource "pods/proxy" in API group "" in the namespace "default"'
        assert message == f'pods "web" is forbidden: {what}'
    assert door.web.asked == []
