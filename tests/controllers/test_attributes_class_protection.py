"""VolumeAttributesClasses that are used stay."""

from __future__ import annotations

from typing import Any

NAME = "volumeattributesclass-protection-controller"
CLASSES, CLAIMS = "/apis/storage.k8s.io/v1/volumeattributesclasses", "/api/v1/namespaces/n/persistentvolumeclaims"


async def test_a_class_stays_until_no_claim_has_it(world: Any) -> None:
    await world.namespace("n")
    await world.run(NAME)
    await world.call("POST", CLASSES, {"metadata": {"name": "fast"}, "driverName": "d", "parameters": {"iops": "1"}})
    await world.clock.advance(1)
    assert (await world.get(f"{CLASSES}/fast"))["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeAttributesClassName": "fast",
    }
    await world.call("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    await world.clock.advance(1)
    await world.call("DELETE", f"{CLASSES}/fast")
    await world.clock.advance(1)
    assert (await world.get(f"{CLASSES}/fast"))["metadata"]["deletionTimestamp"]
    await world.merge(f"{CLAIMS}/c", {"metadata": {"finalizers": None}})
    await world.call("DELETE", f"{CLAIMS}/c")
    await world.clock.advance(1)
    assert await world.get(f"{CLASSES}/fast") is None
