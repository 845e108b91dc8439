"""Volumes for claims, on a whole API server: made on the node of the pod, gone with the claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from setpoint.api.types.core_v1 import PersistentVolumeClaim
from setpoint.api.types.storage_v1 import StorageClass
from setpoint.controllers.component import Settings
from setpoint.controllers.host_path_provisioner import PROVISIONER, Observed, diff

CLAIMS = "/api/v1/namespaces/n/persistentvolumeclaims"
ASKED = {"volume.kubernetes.io/storage-provisioner": PROVISIONER}
NODE = {"volume.kubernetes.io/selected-node": "node-1"}


def claim(annotations: dict[str, str], **spec: Any) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "standard",
        **spec,
    }
    return {"metadata": {"name": "c", "namespace": "n", "annotations": annotations}, "spec": spec}


def observed(body: dict[str, Any], mode: str = "WaitForFirstConsumer") -> Observed:
    storage_class = {"metadata": {"name": "standard"}, "provisioner": PROVISIONER, "volumeBindingMode": mode}
    return Observed(msgspec.convert(body, PersistentVolumeClaim), msgspec.convert(storage_class, StorageClass), None)


def test_it_waits_for_a_node() -> None:
    assert diff(observed(claim(ASKED))) is None
    assert diff(observed(claim(NODE))) is None
    plan = diff(observed(claim(ASKED | NODE)))
    assert plan is not None
    assert (plan.node, plan.refusal) == ("node-1", "")


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        ({"volumeMode": "Block"}, "block volume is not supported"),
        ({"selector": {}}, "claim.Spec.Selector is not supported"),
        ({"accessModes": ["ReadWriteMany"]}, "NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes"),
    ],
)
def test_what_a_directory_cannot_be(spec: dict[str, Any], refusal: str) -> None:
    plan = diff(observed(claim(ASKED | NODE, **spec)))
    assert plan is not None
    assert plan.refusal == refusal


async def test_a_volume_comes_and_goes(world: Any, tmp_path: Path) -> None:
    await world.namespace("n")
    spec = {"provisioner": PROVISIONER, "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer"}
    await world.call("POST", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "standard"}, **spec})
    await world.run(
        "host-path-provisioner", "persistentvolume-binder-controller", settings=Settings(cluster_ca="CA", volumes=tmp_path)
    )
    await world.call("POST", CLAIMS, claim(NODE))

    async def bound() -> bool:
        return bool((await world.get(f"{CLAIMS}/c"))["status"]["phase"] == "Bound")

    await _until(world, bound)
    volume = (await world.call("GET", "/api/v1/persistentvolumes"))["items"][0]
    path = Path(volume["spec"]["hostPath"]["path"])
    assert path.parent == tmp_path
    assert volume["status"]["phase"] == "Bound"
    (path / "file").write_text("x")
    await world.merge(f"{CLAIMS}/c", {"metadata": {"finalizers": None}})
    await world.call("DELETE", f"{CLAIMS}/c")
    await world.merge(f"/api/v1/persistentvolumes/{volume['metadata']['name']}", {"metadata": {"finalizers": None}})

    async def gone() -> bool:
        return not await world.names("/api/v1/persistentvolumes")

    await _until(world, gone)
    assert _names(tmp_path) == []


async def _until(world: Any, holds: Any) -> None:
    """Files are made and removed in threads, which virtual time does not wait for."""
    import asyncio

    for _ in range(200):
        await world.clock.advance(0.1)
        if await holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not come to hold")


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
