from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest

from setpoint.apiserver.authentication.bootstrap_tokens import BootstrapTokens
from setpoint.kit.clock import VirtualClock, rfc3339

TOKEN = "abcdef.0123456789abcdef"


class Objects:
    def __init__(self) -> None:
        self.secret: dict[str, Any] | None = None

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self.secret if (group_resource, namespace, name) == ("secrets", "kube-system", "bootstrap-token-abcdef") else None


def secret(**data: str) -> dict[str, Any]:
    held = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"} | {
        name.replace("_", "-"): value for name, value in data.items()
    }
    return {
        "metadata": {"name": "bootstrap-token-abcdef"},
        "type": "bootstrap.kubernetes.io/token",
        "data": {name: b64encode(value.encode()).decode() for name, value in held.items()},
    }


async def name_of(held: dict[str, Any], token: str = TOKEN, now: float = 0.0) -> str:
    objects, clock = Objects(), VirtualClock()
    objects.secret = held
    clock.jump(now)
    user = await BootstrapTokens(objects, clock).user_of(token)
    return user.name if user is not None else ""


async def test_a_token_is_its_user_in_its_groups() -> None:
    objects = Objects()
    objects.secret = secret(auth_extra_groups="system:bootstrappers:worker,system:bootstrappers:a")
    user = await BootstrapTokens(objects, VirtualClock()).user_of(TOKEN)
    assert user is not None
    assert user.name == "system:bootstrap:abcdef"
    assert user.groups == (
        "system:bootstrappers",
        "system:bootstrappers:a",
        "system:bootstrappers:worker",
        "system:authenticated",
    )


async def test_a_token_ends_in_time() -> None:
    held = secret(expiration=rfc3339(VirtualClock().now() + 60))
    assert await name_of(held)
    assert not await name_of(held, now=61)
    assert not await name_of(secret(expiration="tomorrow"))


@pytest.mark.parametrize(
    "held",
    [
        secret(token_secret="0123456789abcdee"),
        secret(token_secret=""),
        secret(token_id="abcdeg"),
        secret(usage_bootstrap_authentication="false"),
        secret(auth_extra_groups="system:masters"),
        secret(auth_extra_groups="system:bootstrappers:x\nsystem:masters"),
        secret() | {"type": "Opaque"},
        secret() | {"metadata": {"name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"metadata": {"name": "x"}, "type": "bootstrap.kubernetes.io/token"},
    ],
)
async def test_secrets_that_let_nobody_in(held: dict[str, Any]) -> None:
    assert await name_of(held) == ""


@pytest.mark.parametrize(
    "token", ["abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef\n", "abcdef.0123456789ABCDEF", "a.b"]
)
async def test_what_is_no_token_of_this_kind(token: str) -> None:
    assert await name_of(secret(), token) == ""
