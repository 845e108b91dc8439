from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import jwt
from tests.controllers.conftest import World

from setpoint.controllers.bootstrap_tokens.signing import detached_signature
from setpoint.kit.clock import rfc3339

SECRETS = "/api/v1/namespaces/kube-system/secrets"
INFO = "/api/v1/namespaces/kube-public/configmaps"
CONTROLLERS = ("token-cleaner-controller", "bootstrap-signer-controller")


async def make_token(world: World, token_id: str, **data: str) -> None:
    held = {"token-id": token_id, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true"}
    body = {
        "metadata": {"name": f"bootstrap-token-{token_id}"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": held | {name.replace("_", "-"): value for name, value in data.items()},
    }
    await world.call("POST", SECRETS, body)
    await world.clock.advance(1)


async def data_of_info(world: World) -> Any:
    return (await world.get(f"{INFO}/cluster-info"))["data"]


async def test_tokens_are_taken_away_when_their_time_is_over(world: World) -> None:
    await world.namespace("kube-system")
    await world.namespace("kube-public")
    await world.run(*CONTROLLERS)
    await make_token(world, "aaaaaa", expiration=rfc3339(world.clock.now() + 60))
    await make_token(world, "bbbbbb")
    await make_token(world, "cccccc", expiration="soon")
    assert await world.names(SECRETS) == ["bootstrap-token-aaaaaa", "bootstrap-token-bbbbbb"]
    await world.clock.advance(60)
    assert await world.names(SECRETS) == ["bootstrap-token-bbbbbb"]


async def test_cluster_info_is_signed_with_each_token_that_may(world: World) -> None:
    await world.namespace("kube-system")
    await world.namespace("kube-public")
    await world.run(*CONTROLLERS)
    await make_token(world, "aaaaaa")
    await make_token(world, "bbbbbb", usage_bootstrap_signing="false")
    await world.call(
        "POST", INFO, {"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "one", "jws-kubeconfig-gone": "x"}}
    )
    await world.clock.advance(1)
    assert await data_of_info(world) == {
        "kubeconfig": "one",
        "jws-kubeconfig-aaaaaa": detached_signature("one", "aaaaaa", "0123456789abcdef"),
    }
    await world.call("DELETE", f"{SECRETS}/bootstrap-token-aaaaaa")
    await world.clock.advance(1)
    assert await data_of_info(world) == {"kubeconfig": "one"}


def test_the_signature_is_one_of_rfc_7515() -> None:

    header, _, signature = detached_signature("content", "abcdef", "s" * 32).partition("..")
    whole = f"{header}.{urlsafe_b64encode(b'content').decode().rstrip('=')}.{signature}"
    assert jwt.PyJWS().decode(whole, "s" * 32, algorithms=["HS256"]) == b"content"
    assert jwt.get_unverified_header(whole) == {"alg": "HS256", "kid": "abcdef"}
