from __future__ import annotations

from typing import Any

PATH = "/api/v1/namespaces/team/configmaps/kube-root-ca.crt"
NAME = "root-ca-certificate-publisher-controller"


async def test_every_namespace_gets_the_ca_and_gets_it_back(world: Any) -> None:
    await world.namespace("team")
    await world.run(NAME)
    config_map = await world.get(PATH)
    assert config_map["data"] == {"ca.crt": "CA"}
    assert config_map["metadata"]["annotations"]["kubernetes.io/description"].startswith("Contains a CA bundle")
    await world.call("DELETE", PATH)
    await world.clock.advance(1)
    assert (await world.get(PATH))["metadata"]["uid"] != config_map["metadata"]["uid"]
    await world.namespace("later")
    await world.clock.advance(1)
    assert await world.get(PATH.replace("team", "later")) is not None


async def test_what_was_changed_is_put_right(world: Any) -> None:
    await world.namespace("team")
    await world.run(NAME)
    await world.merge(PATH, {"data": {"ca.crt": "other", "more": "x"}, "metadata": {"annotations": None}})
    await world.clock.advance(1)
    config_map = await world.get(PATH)
    assert config_map["data"] == {"ca.crt": "CA"}
    assert "kubernetes.io/description" in config_map["metadata"]["annotations"]
