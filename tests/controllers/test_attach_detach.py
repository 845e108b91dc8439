"""Volumes of CSI drivers on nodes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from setpoint.api.types.core_v1 import Node, PersistentVolume
from setpoint.api.types.storage_v1 import VolumeAttachment
from setpoint.controllers.attach_detach.plan import MAX_WAIT, Held, Observed, diff, unique_name

NAME = "persistentvolume-attach-detach-controller"
PODS, ATTACHMENTS = "/api/v1/namespaces/n/pods", "/apis/storage.k8s.io/v1/volumeattachments"


async def test_a_volume_is_attached_where_a_pod_uses_it_and_detached_after_it(world: Any) -> None:
    await world.namespace("n", account=True)
    await world.run(NAME, "persistentvolume-binder-controller")
    managed = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    for node in ("a", "b"):
        await world.call("POST", "/api/v1/nodes", {"metadata": {"name": node, "annotations": managed}})
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    csi = {"driver": "d.example", "volumeHandle": "h"}
    body = {"metadata": {"name": "v"}, "spec": {**spec, "capacity": {"storage": "1Gi"}, "csi": csi}}
    await world.call("POST", "/api/v1/persistentvolumes", body)
    claim = {"metadata": {"name": "c"}, "spec": {**spec, "resources": {"requests": {"storage": "1Gi"}}}}
    await world.call("POST", "/api/v1/namespaces/n/persistentvolumeclaims", claim)
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    for node in ("a", "b"):
        on_node = {"nodeName": node, "containers": [{"name": "c", "image": "i"}], "volumes": volumes}
        await world.call("POST", PODS, {"metadata": {"name": f"on-{node}"}, "spec": on_node})
        await world.clock.advance(1)
    (made,) = (await world.call("GET", ATTACHMENTS))["items"]
    assert made["metadata"]["name"] == f"csi-{sha256(b'hd.examplea').hexdigest()}"
    assert made["spec"] == {"attacher": "d.example", "nodeName": "a", "source": {"persistentVolumeName": "v"}}
    await world.merge(f"{ATTACHMENTS}/{made['metadata']['name']}/status", {"status": {"attached": True}})
    await world.clock.advance(1)
    reported = (await world.get("/api/v1/nodes/a"))["status"]["volumesAttached"]
    assert reported == [{"name": "kubernetes.io/csi/d.example^h", "devicePath": ""}]
    events = (await world.call("GET", "/api/v1/namespaces/n/events"))["items"]
    told = {each["involvedObject"]["name"]: each["message"] for each in events if each["reason"].endswith("AttachVolume")}
    assert told == {
        "on-a": 'AttachVolume.Attach succeeded for volume "v" ',
        "on-b": 'Multi-Attach error for volume "v" Volume is already used by pod(s) on-a',
    }
    await world.call("DELETE", f"{PODS}/on-a", {"gracePeriodSeconds": 0})
    await world.clock.advance(1)
    (then,) = (await world.call("GET", ATTACHMENTS))["items"]
    assert then["spec"]["nodeName"] == "b"
    assert "volumesAttached" not in (await world.get("/api/v1/nodes/a"))["status"]


VOLUME = msgspec.convert({"metadata": {"name": "v"}, "spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}, PersistentVolume)
OUT = {"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]}


def node(*, well: bool = False, spec: Any = None) -> Node:
    """One whose agent still says that it uses the volume."""
    status = {"volumesInUse": [unique_name(VOLUME)], "conditions": [{"type": "Ready", "status": str(well)}]}
    return msgspec.convert({"metadata": {"name": "a"}, "spec": spec or {}, "status": status}, Node)


@pytest.mark.parametrize(
    ("present", "waited", "goes"),
    [
        (node(well=True), MAX_WAIT, False),
        (node(), MAX_WAIT - 1, False),
        (node(), MAX_WAIT, True),
        (node(spec=OUT), 0, True),
        (None, MAX_WAIT - 1, False),
        (None, MAX_WAIT, True),
    ],
    ids=["well", "ill", "ill for long", "out of service", "gone", "gone for long"],
)
def test_a_volume_that_is_never_let_go_of_is_taken_from_a_node_that_is_not_well(
    present: Node | None, waited: float, goes: bool
) -> None:
    body = {"metadata": {"name": "x"}, "spec": {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "v"}}}
    held = {"x": Held(msgspec.convert(body, VolumeAttachment), unique_name(VOLUME))}
    first = diff(Observed("a", present, {}, held, now=0.0))
    assert first is not None
    then = diff(Observed("a", present, {}, held, unwanted=first.unwanted, now=waited))
    assert bool(first.detach or (then is not None and then.detach)) is goes
    assert goes or first.look_again == MAX_WAIT
