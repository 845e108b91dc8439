"""Requests that are passed on, and what is not."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.apiserver.aggregation.conftest import METRICS, Api

from setpoint.api.machinery.user import UserInfo
from setpoint.kit.deadlines import Deadlines

_THINGS = f"{METRICS}/namespaces/default/things"


@pytest.fixture
async def served(api: Api) -> Api:
    await api.serve()
    await api.register()
    await api.condition("Passed")
    return api


async def test_who_asks_is_told_by_headers_that_nobody_else_can_send(served: Api) -> None:
    user = UserInfo("jane", "7", ("system:masters", "system:authenticated"), {"Example.com/odd key": ("a", "b")})
    headers = {"authorization": "Bearer secret", "x-remote-user": "root", "x-remote-group": "system:masters", "x-other": "kept"}
    served.other.asked.clear()
    response = await served.respond(f"GET {_THINGS}?limit=5&labelSelector=a%3Db", user=user, headers=headers)
    assert response.status == 200
    assert orjson.loads(response.body or b"")["kind"] == "ThingList"
    (asked,) = [each for each in served.other.asked if each.path == _THINGS]
    assert asked.raw_path == f"{_THINGS}?labelSelector=a%3Db&limit=5"
    assert asked.headers.getall("X-Remote-User") == ["jane"]
    assert asked.headers.getall("X-Remote-Uid") == ["7"]
    assert asked.headers.getall("X-Remote-Group") == ["system:masters", "system:authenticated"]
    assert asked.headers.getall("X-Remote-Extra-Example.com%2Fodd%20key") == ["a", "b"]
    assert "Authorization" not in asked.headers
    assert asked.headers["X-Other"] == "kept"


async def test_bodies_statuses_and_headers_pass(served: Api) -> None:
    async def teapot(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=418, body=await request.read(), headers={"X-Mine": "1", "Content-Type": "text/odd"})

    served.other.answers[_THINGS] = teapot
    response = await served.respond(f"POST {_THINGS}", {"some": "thing"})
    assert (response.status, response.body) == (418, b'{"some":"thing"}')
    assert (response.headers["X-Mine"], response.headers["Content-Type"]) == ("1", "text/odd")


async def test_a_watch_comes_piece_by_piece(served: Api) -> None:
    go_on = asyncio.Event()

    async def watch(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"first\n")
        await go_on.wait()
        await answer.write(b"second\n")
        return answer

    served.other.answers[_THINGS] = watch
    response = await served.respond(f"GET {_THINGS}?watch=true")
    assert response.stream is not None
    pieces = [await anext(response.stream)]
    go_on.set()
    pieces += [piece async for piece in response.stream]
    assert b"".join(pieces) == b"first\nsecond\n"


async def test_what_is_not_available_is_a_plain_503(api: Api) -> None:
    await api.register()
    await api.condition("ServiceNotFound")
    response = await api.respond(f"GET {_THINGS}")
    assert (response.status, response.body) == (503, b"service unavailable\n")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_a_server_that_went_away(served: Api) -> None:
    async def hang_up(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    served.other.answers[_THINGS] = hang_up
    response = await served.respond(f"GET {_THINGS}")
    assert (response.status, response.body) == (503, b"error trying to reach service: EOF\n")


async def test_nobody_passes_without_rights(served: Api) -> None:
    served.other.asked.clear()
    response = await served.respond(f"GET {_THINGS}", user=UserInfo("nobody", groups=("system:authenticated",)))
    assert response.status == 403
    assert not [each for each in served.other.asked if each.path == _THINGS]


async def test_what_is_gone_is_not_found(served: Api) -> None:
    await served("DELETE /apis/apiregistration.k8s.io/v1/apiservices/v1.metrics.example.com")
    status: Any = 0
    for _ in range(100):
        status = (await served.respond(f"GET {_THINGS}")).status
        if status == 404:
            break
        await asyncio.sleep(0.01)
    assert status == 404


async def test_a_server_that_never_answers_is_given_up(served: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(30)
        raise AssertionError

    served.other.answers[f"{_THINGS}/slow"] = never
    monkeypatch.setattr(served.pipeline, "_deadlines", Deadlines(0.05))
    response = await served.respond(f"GET {_THINGS}/slow")
    assert response.status == 504
