from __future__ import annotations

from typing import Any

PATH = "/api/v1/namespaces/team/serviceaccounts/default"


async def test_every_namespace_has_a_default_account_and_gets_it_back(world: Any) -> None:
    await world.namespace("team")
    await world.run("serviceaccount-controller")
    account = await world.get(PATH)
    assert account is not None
    await world.call("DELETE", PATH)
    await world.clock.advance(1)
    assert (await world.get(PATH))["metadata"]["uid"] != account["metadata"]["uid"]
