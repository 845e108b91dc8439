from __future__ import annotations

from typing import Any

ROOT = "/apis/flowcontrol.apiserver.k8s.io/v1"


async def test_a_schema_dangles_while_its_level_is_missing(world: Any) -> None:
    schema = {"metadata": {"name": "s"}, "spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 9999}}
    level = {
        "metadata": {"name": "l"},
        "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}},
    }

    async def dangling() -> tuple[str, str, str]:
        [condition] = (await world.get(f"{ROOT}/flowschemas/s"))["status"]["conditions"]
        assert condition["type"] == "Dangling"
        return condition["status"], condition["reason"], condition["message"]

    await world.call("POST", f"{ROOT}/flowschemas", schema)
    await world.run("priority-and-fairness-config-consumer")
    start = 'This FlowSchema references the PriorityLevelConfiguration object named "l"'
    assert await dangling() == ("True", "NotFound", f"{start} but there is no such object")
    await world.call("POST", f"{ROOT}/prioritylevelconfigurations", level)
    await world.clock.advance(1)
    assert await dangling() == ("False", "Found", f"{start} and it exists")
    await world.call("DELETE", f"{ROOT}/prioritylevelconfigurations/l")
    await world.clock.advance(1)
    assert (await dangling())[0] == "True"
