"""Secrets that hold tokens of service accounts."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from tests.controllers.conftest import World

from setpoint.controllers.component import Settings

SECRETS, ACCOUNTS = "/api/v1/namespaces/d/secrets", "/api/v1/namespaces/d/serviceaccounts"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


async def start(world: World) -> None:
    await world.namespace("d")
    settings = Settings(cluster_ca="CA", token_signer=lambda *about: "/".join(about))
    await world.run("serviceaccount-token-controller", settings=settings)


async def make_secret(world: World, account: str) -> Any:
    body = {"metadata": {"name": "s", "annotations": {NAME: account}}, "type": "kubernetes.io/service-account-token"}
    await world.call("POST", SECRETS, body)
    await world.clock.advance(1)
    return await world.get(f"{SECRETS}/s")


async def test_a_secret_is_filled_for_its_account(world: World) -> None:
    await start(world)
    account = await world.call("POST", ACCOUNTS, {"metadata": {"name": "a"}})
    secret = await make_secret(world, "a")
    uid = account["metadata"]["uid"]
    assert secret["metadata"]["annotations"] == {NAME: "a", UID: uid}
    data = {name: b64decode(value).decode() for name, value in secret["data"].items()}
    assert data == {"token": f"d/a/{uid}/s", "namespace": "d", "ca.crt": "CA"}


async def test_a_secret_without_account_is_taken_away(world: World) -> None:
    await start(world)
    assert await make_secret(world, "nobody") is None


async def test_a_secret_goes_with_its_account_and_is_not_another_ones(world: World) -> None:
    await start(world)
    await world.call("POST", ACCOUNTS, {"metadata": {"name": "a"}})
    await make_secret(world, "a")
    await world.call("DELETE", f"{ACCOUNTS}/a")
    await world.call("POST", ACCOUNTS, {"metadata": {"name": "a"}})
    await world.clock.advance(1)
    assert await world.get(f"{SECRETS}/s") is None


async def test_a_token_that_is_taken_out_is_made_again(world: World) -> None:
    await start(world)
    await world.call("POST", ACCOUNTS, {"metadata": {"name": "a"}})
    await make_secret(world, "a")
    await world.merge(f"{SECRETS}/s", {"data": {"token": None, "ca.crt": None}})
    await world.clock.advance(1)
    assert {*(await world.get(f"{SECRETS}/s"))["data"]} == {"token", "namespace", "ca.crt"}


async def test_an_account_names_no_secret_that_is_gone(world: World) -> None:
    await start(world)
    await world.call("POST", ACCOUNTS, {"metadata": {"name": "a"}, "secrets": [{"name": "s"}, {"name": "other"}]})
    await make_secret(world, "a")
    await world.call("DELETE", f"{SECRETS}/s")
    await world.clock.advance(1)
    assert (await world.get(f"{ACCOUNTS}/a"))["secrets"] == [{"name": "other"}]
