"""What policies hear of their expressions."""

from __future__ import annotations

from typing import Any

from setpoint.api.types.admissionregistration_v1 import VALIDATINGADMISSIONPOLICIES
from setpoint.testing.cluster import VirtualCluster


def policy(name: str, *expressions: str, resources: tuple[str, ...] = ("deployments",), **more: Any) -> dict[str, Any]:
    rule = {"apiGroups": ["apps", ""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": list(resources)}
    validations = [{"expression": each} for each in expressions]
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": validations, **more}
    return {"metadata": {"name": name}, "spec": spec}


async def test_warnings_and_generations() -> None:
    async with VirtualCluster(nodes=0) as cluster:
        client = cluster.client
        wrong = policy(
            "wrong", "object.spec.replicaz > 1", "object.spec.replicas > 1", "variables.v == 'a'", "params.data.x == ''"
        )
        wrong["spec"]["variables"] = [{"name": "v", "expression": "object.spec.replicas"}]
        wrong["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "Secret"}
        right = policy("right", "object.spec.template.spec.containers.all(c, has(c.image))", "object.metadata.name != ''")
        several = policy("several", "params.x == 1", resources=("configmaps", "deployments"))
        several["spec"]["paramKind"] = {"apiVersion": "example.com/v1", "kind": "Nosuch"}
        for body in (wrong, right, several):
            await client.create(VALIDATINGADMISSIONPOLICIES, body)
        await cluster.advance(5)
        status = (await client.get(VALIDATINGADMISSIONPOLICIES, "wrong")).status
        assert status.observed_generation == 1
        assert status.type_checking is not None
        first, second, third = status.type_checking.expression_warnings
        assert first.field_ref == "spec.validations[0].expression"
        assert first.warning == (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n"
            " | object.spec.replicaz > 1\n | ...........^\n"
        )
        assert second.field_ref == "spec.validations[2].expression"
        assert "found no matching overload for '_==_' applied to '(int, string)'" in second.warning
        assert "'(bytes, string)'" in third.warning
        status = (await client.get(VALIDATINGADMISSIONPOLICIES, "right")).status
        assert status.observed_generation == 1
        assert status.type_checking is not None
        assert not status.type_checking.expression_warnings
        status = (await client.get(VALIDATINGADMISSIONPOLICIES, "several")).status
        assert status.type_checking is not None
        (only,) = status.type_checking.expression_warnings
        told = "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^\n"
        assert only.warning == f"/v1, Kind=ConfigMap: {told}\napps/v1, Kind=Deployment: {told}"
