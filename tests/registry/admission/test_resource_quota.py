from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ADMIN
from setpoint.kit.clock import VirtualClock
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.admission.resource_quota.step import ResourceQuota
from setpoint.registry.strategy import Context
from setpoint.registry.table import RESOURCES

COUNT = "count/configmaps"


class Namespace:
    """Quotas of a namespace; `meddle` is what another writer does before the next charge, once."""

    def __init__(self, *names: str) -> None:
        self.quotas: dict[str, dict[str, Any]] = {name: _quota(name, 0, 1) for name in names}
        self.meddle: str = ""

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self.quotas.get(name)

    async def list(self, group_resource: str, namespace: str = "") -> Sequence[Mapping[str, Any]]:
        await asyncio.sleep(0)
        return [*self.quotas.values()]

    async def replace(self, group_resource: str, namespace: str, name: str, obj: Mapping[str, Any]) -> bool:
        if name == self.meddle:
            self.meddle = ""
            held = self.quotas[name]
            self.quotas[name] = _quota(name, self.used(name), int(held["metadata"]["resourceVersion"]) + 1)
        version = self.quotas[name]["metadata"]["resourceVersion"]
        if obj["metadata"]["resourceVersion"] != version:
            return False
        self.quotas[name] = _quota(name, int(obj["status"]["used"][COUNT]), int(version) + 1)
        return True

    def used(self, name: str) -> int:
        return int(self.quotas[name]["status"]["used"][COUNT])


def _quota(name: str, used: int, version: int) -> dict[str, Any]:
    hard = {COUNT: "2"}
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": f"u-{name}", "resourceVersion": str(version)},
        "spec": {"hard": hard},
        "status": {"hard": hard, "used": {COUNT: str(used)}},
    }


def _create() -> AdmissionRequest:
    resource = next(each for each in RESOURCES if each.plural == "configmaps")
    context = Context(ADMIN, now=0.0)
    return AdmissionRequest("CREATE", resource, "v1", context, namespace="ns", name="c", obj={"metadata": {"name": "c"}})


async def test_of_two_quotas_none_is_charged_twice_when_another_writer_was_faster() -> None:
    namespace = Namespace("a", "b")
    step = ResourceQuota(namespace, namespace, VirtualClock())
    namespace.meddle = "b"
    await step.validate(_create())
    assert (namespace.used("a"), namespace.used("b")) == (1, 1)
    await step.validate(_create())
    with pytest.raises(StatusError, match="exceeded quota: a"):
        await step.validate(_create())
    assert (namespace.used("a"), namespace.used("b")) == (2, 2)


async def test_writes_of_one_moment_are_charged_together_in_their_order() -> None:
    namespace = Namespace("a")
    step = ResourceQuota(namespace, namespace, VirtualClock())
    outcomes = await asyncio.gather(*(step.validate(_create()) for _ in range(30)), return_exceptions=True)
    assert [isinstance(each, StatusError) for each in outcomes] == [False] * 2 + [True] * 28
    assert (namespace.used("a"), namespace.quotas["a"]["metadata"]["resourceVersion"]) == (2, "2")
