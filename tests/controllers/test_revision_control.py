from __future__ import annotations

from typing import Any

from setpoint.api.types import apps_v1
from setpoint.client.client import Client
from setpoint.controllers.history import Revision
from setpoint.controllers.revision_control import CreateRevision, Renumber, RevisionControl

REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"


def body(data: Any) -> dict[str, Any]:
    return {"metadata": {"name": "r"}, "data": data, "revision": 1}


async def there(client: Client) -> Revision:
    return await client.get(apps_v1.CONTROLLERREVISIONS, "r", "default")


async def test_a_name_that_is_taken_is_a_collision_unless_it_is_the_same_version(world: Any) -> None:
    await world.namespace("default")
    control = RevisionControl(world.client)
    assert await control.write("default", CreateRevision(body({"a": 1})))
    assert await control.write("default", CreateRevision(body({"a": 1})))
    assert not await control.write("default", CreateRevision(body({"a": 1})), lambda _: False)
    assert not await control.write("default", CreateRevision(body({"a": 2})))
    assert (await there(world.client)).data == {"a": 1}


async def test_a_former_version_is_renumbered_and_only_the_very_one_forgotten(world: Any) -> None:
    await world.namespace("default")
    control = RevisionControl(world.client)
    await control.write("default", CreateRevision(body({})))
    first = await there(world.client)
    await control.write("default", Renumber(first, 7))
    assert (await there(world.client)).revision == 7
    await control.forget(first)
    await control.forget(first)
    assert await world.names(REVISIONS) == []
