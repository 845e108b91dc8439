"""A cache is trusted only when it shows what the controller itself wrote, or may have written."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, meta_v1
from setpoint.client.transport import TransportError
from setpoint.controllers.deployment.own_writes import OwnWrites

OWNER = apps_v1.Deployment(metadata=meta_v1.ObjectMeta(name="web", namespace="default", uid="u1"))
KEY = "default/web"


def replica_set(version: int, owner: str = "u1") -> apps_v1.ReplicaSet:
    reference = meta_v1.OwnerReference(api_version="apps/v1", kind="Deployment", name="web", uid=owner, controller=True)
    return apps_v1.ReplicaSet(metadata=meta_v1.ObjectMeta(resource_version=str(version), owner_references=(reference,)))


class Server:
    """A client whose lists hold `there`, and an informer that has come to `resource_version`."""

    def __init__(self) -> None:
        self.there: list[apps_v1.ReplicaSet] = []
        self.resource_version = "10"
        self.lists = 0

    async def list(self, resource: Any, namespace: str) -> Any:
        self.lists += 1
        return type("Listed", (), {"items": tuple(self.there)})


def attempt(writes: OwnWrites, error: Exception) -> None:
    with pytest.raises(type(error)), writes.attempt(OWNER):
        raise error


async def test_a_write_must_be_shown() -> None:
    server = Server()
    writes = OwnWrites(server, server)  # type: ignore[arg-type]  # stands for both
    assert writes.are_shown(KEY)
    writes.note(OWNER, replica_set(12))
    assert not writes.are_shown(KEY)
    server.resource_version = "12"
    assert writes.are_shown(KEY)


@pytest.mark.parametrize("error", [TransportError("connection reset by peer"), StatusError(504, "Timeout", "late")])
async def test_a_write_without_an_answer_is_looked_for_once(error: Exception) -> None:
    server = Server()
    writes = OwnWrites(server, server)  # type: ignore[arg-type]  # stands for both
    attempt(writes, error)
    assert not writes.are_shown(KEY)
    server.there = [replica_set(11), replica_set(99, owner="another")]
    await writes.find_out(OWNER)
    assert not writes.are_shown(KEY), "it was carried out, and the cache does not show it yet"
    server.resource_version = "11"
    assert writes.are_shown(KEY)
    await writes.find_out(OWNER)
    assert server.lists == 1


async def test_a_write_that_was_never_carried_out_holds_nothing_up() -> None:
    server = Server()
    writes = OwnWrites(server, server)  # type: ignore[arg-type]  # stands for both
    attempt(writes, TransportError("connection refused"))
    await writes.find_out(OWNER)
    assert writes.are_shown(KEY)


async def test_a_refusal_is_an_answer() -> None:
    server = Server()
    writes = OwnWrites(server, server)  # type: ignore[arg-type]  # stands for both
    attempt(writes, StatusError(409, "Conflict", "the object has been modified"))
    assert writes.are_shown(KEY)
