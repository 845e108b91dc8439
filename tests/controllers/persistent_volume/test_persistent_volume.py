from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import PersistentVolume
from setpoint.controllers.persistent_volume.volumes import Observed, diff

BINDER = "persistentvolume-binder-controller"
PROTECTION = ("persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller")
VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/ns/persistentvolumeclaims"


async def volume(world: Any, name: str, size: str, maker: str = "", **spec: Any) -> None:
    base = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/data"},
        "storageClassName": "k",
    }
    metadata = {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": maker} if maker else None}
    await world.call("POST", VOLUMES, {"metadata": metadata, "spec": {**base, **spec}})


async def claim(world: Any, name: str, size: str, **spec: Any) -> None:
    base = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": "k"}
    await world.call("POST", CLAIMS, {"metadata": {"name": name}, "spec": {**base, **spec}})


async def phases(world: Any, path: str) -> dict[str, str]:
    items = (await world.call("GET", path))["items"]
    return {item["metadata"]["name"]: item["status"]["phase"] for item in items}


@pytest.fixture
async def storage(world: Any) -> Any:
    await world.namespace("ns", account=True)
    await volume(world, "big", "9Gi")
    await volume(world, "fits", "3Gi")
    await volume(world, "small", "1Gi")
    await world.run(BINDER, *PROTECTION)
    return world


async def test_the_smallest_volume_that_fits_is_bound_and_released_with_its_claim(storage: Any) -> None:
    assert set((await phases(storage, VOLUMES)).values()) == {"Available"}
    await claim(storage, "c", "2Gi")
    await storage.clock.advance(1)
    found = await storage.get(f"{CLAIMS}/c")
    assert (found["spec"]["volumeName"], found["status"]["phase"]) == ("fits", "Bound")
    assert found["status"]["capacity"] == {"storage": "3Gi"}
    assert found["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    await storage.call("DELETE", f"{CLAIMS}/c")
    await storage.clock.advance(1)
    assert await storage.get(f"{CLAIMS}/c") is None
    assert await phases(storage, VOLUMES) == {"big": "Available", "fits": "Released", "small": "Available"}


async def test_a_volume_that_comes_later_is_found_and_one_reserved_is_left(storage: Any) -> None:
    await volume(storage, "reserved", "20Gi", claimRef={"namespace": "ns", "name": "other"})
    await claim(storage, "c", "15Gi")
    await storage.clock.advance(1)
    assert await phases(storage, CLAIMS) == {"c": "Pending"}
    await volume(storage, "late", "30Gi")
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/c"))["spec"]["volumeName"] == "late"
    await claim(storage, "other", "1Gi")
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/other"))["spec"]["volumeName"] == "reserved"


async def test_two_claims_do_not_get_one_volume(storage: Any) -> None:
    for name in ("a", "b"):
        await claim(storage, name, "5Gi")
    await storage.clock.advance(2)
    assert sorted((await phases(storage, CLAIMS)).values()) == ["Bound", "Pending"]


async def test_a_claim_loses_its_volume_that_a_bound_one_cannot_lose_by_deletion(storage: Any) -> None:
    await claim(storage, "c", "2Gi")
    await storage.clock.advance(1)
    await storage.call("DELETE", f"{VOLUMES}/fits")
    await storage.clock.advance(1)
    assert (await storage.get(f"{VOLUMES}/fits"))["metadata"]["deletionTimestamp"]
    await storage.merge(f"{VOLUMES}/fits", {"metadata": {"finalizers": None}})
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/c"))["status"] == {"phase": "Lost"}


async def test_a_claim_stays_while_a_pod_on_a_node_uses_it(storage: Any) -> None:
    await claim(storage, "c", "2Gi")
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}], "volumes": volumes}
    await storage.call("POST", "/api/v1/namespaces/ns/pods", {"metadata": {"name": "p"}, "spec": spec})
    await storage.call("DELETE", f"{CLAIMS}/c")
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/c"))["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    await storage.call("DELETE", "/api/v1/namespaces/ns/pods/p", {"gracePeriodSeconds": 0})
    await storage.clock.advance(1)
    assert await storage.get(f"{CLAIMS}/c") is None


async def test_reclaiming_by_deletion(storage: Any) -> None:
    await volume(storage, "scratch", "50Gi", persistentVolumeReclaimPolicy="Delete", hostPath={"path": "/tmp/x"})
    await volume(storage, "kept", "60Gi", persistentVolumeReclaimPolicy="Delete")
    for name, size in (("a", "50Gi"), ("b", "55Gi")):
        await claim(storage, name, size)
        await storage.clock.advance(1)
        await storage.call("DELETE", f"{CLAIMS}/{name}")
    await storage.clock.advance(2)
    assert await storage.get(f"{VOLUMES}/scratch") is None
    status = (await storage.get(f"{VOLUMES}/kept"))["status"]
    assert (status["phase"], status["message"]) == (
        "Failed",
        "host_path deleter only supports /tmp/.+ but received provided /data",
    )


@pytest.mark.parametrize(
    ("source", "maker", "lacking"),
    [
        ({"csi": {"driver": "x", "volumeHandle": "h"}}, "", "no volume plugin matched"),
        ({"local": {"path": "/mnt"}}, "", "no volume plugin matched"),
        ({"nfs": {"server": "s", "path": "/"}}, "", "no deletable volume plugin matched"),
        ({"csi": {"driver": "x", "volumeHandle": "h"}}, "x", None),
    ],
)
def test_volumes_that_nobody_here_can_delete(source: dict[str, Any], maker: str, lacking: str | None) -> None:
    body = {
        "metadata": {"name": "v", "annotations": {"pv.kubernetes.io/provisioned-by": maker} if maker else {}},
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"uid": "u"}, **source},
        "status": {"phase": "Released"},
    }
    plan = diff(Observed(convert(body, PersistentVolume), None))
    text = lacking and f'error getting deleter volume plugin for volume "v": {lacking}'
    assert (plan and plan.message) == text


async def test_a_volume_of_a_provisioner_of_others_is_left_to_it(storage: Any) -> None:
    theirs: dict[str, Any] = {"maker": "rancher.io/local-path", "hostPath": {"path": "/tmp/x"}}
    await volume(storage, "theirs", "50Gi", persistentVolumeReclaimPolicy="Delete", **theirs)
    await claim(storage, "a", "50Gi")
    await storage.clock.advance(1)
    await storage.call("DELETE", f"{CLAIMS}/a")
    await storage.clock.advance(2)
    assert (await storage.get(f"{VOLUMES}/theirs"))["status"]["phase"] == "Released"


async def test_the_fewest_access_modes_come_before_the_smallest_size(storage: Any) -> None:
    await volume(storage, "shared", "2Gi", accessModes=["ReadWriteOnce", "ReadOnlyMany"])
    await claim(storage, "c", "2Gi")
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/c"))["spec"]["volumeName"] == "fits"


async def test_a_claim_that_names_no_class_gets_the_default_that_comes_later(storage: Any) -> None:
    await claim(storage, "c", "2Gi", storageClassName=None)
    await storage.clock.advance(1)
    metadata = {"name": "later", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    waits = {"provisioner": "example.com/x", "volumeBindingMode": "WaitForFirstConsumer"}
    await storage.call("POST", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": metadata, **waits})
    await storage.clock.advance(1)
    assert (await storage.get(f"{CLAIMS}/c"))["spec"]["storageClassName"] == "later"
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}
    await storage.call("POST", "/api/v1/namespaces/ns/pods", {"metadata": {"name": "p"}, "spec": spec})
    await storage.clock.advance(1)
    events = (await storage.call("GET", "/api/v1/namespaces/ns/events"))["items"]
    assert {each["reason"]: each["message"] for each in events} == {
        "FailedBinding": "no persistent volumes available for this claim and no storage class is set",
        "WaitForFirstConsumer": "waiting for first consumer to be created before binding",
        "WaitForPodScheduled": "waiting for pod p to be scheduled",
    }


async def test_a_claim_that_names_a_volume_of_another_is_told(storage: Any) -> None:
    await volume(storage, "taken", "20Gi", claimRef={"namespace": "ns", "name": "other"})
    await claim(storage, "c", "2Gi", volumeName="taken")
    await storage.clock.advance(1)
    (event,) = (await storage.call("GET", "/api/v1/namespaces/ns/events"))["items"]
    assert (event["reason"], event["message"]) == ("FailedBinding", 'volume "taken" already bound to a different claim.')


async def test_a_claim_that_grows_waits_for_somebody_else(storage: Any) -> None:
    await storage.stop()
    await storage.run(BINDER, "persistentvolume-expander-controller")
    kind = {"metadata": {"name": "k"}, "provisioner": "example.com/x", "allowVolumeExpansion": True}
    await storage.call("POST", "/apis/storage.k8s.io/v1/storageclasses", kind)
    await claim(storage, "c", "2Gi")
    await storage.clock.advance(1)
    await storage.merge(f"{CLAIMS}/c", {"spec": {"resources": {"requests": {"storage": "8Gi"}}}})
    await storage.clock.advance(1)
    (event,) = (await storage.call("GET", "/api/v1/namespaces/ns/events"))["items"]
    assert (event["type"], event["reason"]) == ("Normal", "ExternalExpanding")
    assert (await storage.get(f"{CLAIMS}/c"))["status"]["capacity"] == {"storage": "3Gi"}
