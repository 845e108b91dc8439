from __future__ import annotations

from typing import Any

ROOT = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
RULE = {"verbs": ["get"], "apiGroups": ["x.example"], "resources": ["things"]}


async def test_a_role_gathers_the_rules_of_others(world: Any) -> None:
    def gathering(name: str, labels: dict[str, str], wanted: dict[str, str]) -> dict[str, Any]:
        selectors = [{"matchLabels": wanted}]
        return {"metadata": {"name": name, "labels": labels}, "aggregationRule": {"clusterRoleSelectors": selectors}}

    async def rules(name: str) -> list[Any]:
        found: list[Any] = (await world.get(f"{ROOT}/{name}"))["rules"]
        return found

    await world.call("POST", ROOT, gathering("whole", {}, {"to": "whole"}))
    await world.call("POST", ROOT, gathering("part", {"to": "whole"}, {"to": "part"}))
    await world.call("POST", ROOT, {"metadata": {"name": "a", "labels": {"to": "part"}}, "rules": [RULE]})
    await world.run("clusterrole-aggregation-controller")
    await world.clock.advance(1)
    assert await rules("part") == await rules("whole") == [RULE]
    applied = (await world.get(f"{ROOT}/whole"))["metadata"]["managedFields"][0]
    assert (applied["manager"], applied["operation"]) == ("clusterrole-aggregation-controller", "Apply")
    await world.call("DELETE", f"{ROOT}/a")
    await world.clock.advance(1)
    assert not await rules("whole")


async def test_rules_of_a_role_that_gathers_nothing_stay(world: Any) -> None:
    rule = {"matchLabels": {"to": "nothing"}}
    body = {"metadata": {"name": "own"}, "aggregationRule": {"clusterRoleSelectors": [rule]}, "rules": [RULE]}
    await world.call("POST", ROOT, body)
    await world.run("clusterrole-aggregation-controller")
    await world.clock.advance(1)
    assert (await world.get(f"{ROOT}/own"))["rules"] == [RULE]
