"""Who the server is towards webhooks."""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.apiserver.webhooks.serving import Certificate, serving

from setpoint.apiserver.webhooks.client import WebhookClient
from setpoint.apiserver.webhooks.failures import Unprepared
from setpoint.apiserver.webhooks.identities import Identities, load
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store


def written(folder: Path, users: dict[str, dict[str, Any]], current: str = "") -> Identities:
    config = {
        "users": [{"name": name, "user": user} for name, user in users.items()],
        "contexts": [{"name": "here", "context": {"user": current}}],
        "current-context": "here",
    }
    (folder / "config").write_text(json.dumps(config))
    return load(folder / "config")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("hook.team.svc:8443", "hook.team.svc:8443"),
        ("hook.team.svc:443", "hook.team.svc"),
        ("other.team.svc:443", "*.team.svc"),
        ("other.team.svc:444", "*.team.svc:444"),
        ("other.team.svc:445", "*"),
        ("hook.team.svc:9", "*"),
        ("[::1]:443", "::1"),
        ("deep.below.example.com:443", "*.example.com:443"),
        ("example.com:443", "*"),
    ],
)
def test_a_user_is_named_by_the_host(tmp_path: Path, target: str, name: str) -> None:
    names = ["hook.team.svc:8443", "hook.team.svc", "*.team.svc", "*.team.svc:444", "*.example.com:443", "::1", "*", "current"]
    users = written(tmp_path, {each: {"token": each} for each in names}, current="current")
    assert users.find(target).shown() == [("Authorization", f"Bearer {name}")]


def test_the_current_user_is_for_all_that_nobody_is_named_for(tmp_path: Path) -> None:
    users = written(tmp_path, {"a": {"username": "u", "password": "p"}}, current="a")
    assert users.find("b:443").shown() == [("Authorization", f"Basic {base64.b64encode(b'u:p').decode()}")]
    assert written(tmp_path, {"a": {"token": "t"}}).find("b:443").shown() == []


def test_a_user_may_act_as_another(tmp_path: Path) -> None:
    acting = {"as": "bob", "as-uid": "7", "as-groups": ["x", "y"], "as-user-extra": {"scopes": ["s"]}}
    assert written(tmp_path, {"*": acting}).find("b:443").shown() == [
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "x"),
        ("Impersonate-Group", "y"),
        ("Impersonate-Extra-scopes", "s"),
    ]


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"exec": {"command": "x"}}, "exec is not supported"),
        ({"auth-provider": {"name": "x"}}, "auth-provider is not supported"),
        ({"token": "a", "username": "b"}, "may be set, but not both"),
        ({"client-certificate-data": "%"}, "not base64"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, user: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        written(tmp_path, {"a": user})


async def test_certificate_and_token_reach_the_webhook(tmp_path: Path) -> None:
    pair = Certificate.made(tmp_path)
    (tmp_path / "token").write_text("first\n")
    user = {"tokenFile": "token", "client-certificate": pair.file.name, "client-key": pair.file.name}
    users = written(tmp_path, {"*": user})

    async def handle(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        peer = request.transport.get_extra_info("peercert")
        return web.json_response([request.headers["Authorization"], bool(peer)])

    context = pair.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(pair.file)
    client = WebhookClient(memory_store(RealClock()))
    async with serving(handle, context) as port:
        config = {"url": f"https://127.0.0.1:{port}/", "caBundle": pair.bundle}
        assert json.loads(await client.call(config, b"", seconds=5, users=users)) == ["Bearer first", True]
        (tmp_path / "token").write_text("second")
        assert json.loads(await client.call(config, b"", seconds=5, users=users)) == ["Bearer second", True]
        (tmp_path / "token").unlink()
        with pytest.raises(Unprepared, match=f"open {tmp_path}/token: no such file or directory"):
            await client.call(config, b"", seconds=5, users=users)
    await client.close()
