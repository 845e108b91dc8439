"""lightkube, kr8s and the official client's dynamic client over a kind that they learn of while the server runs."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import kr8s
import kubernetes
import lightkube
import pytest
from kr8s.asyncio.objects import new_class
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, UnprocessibleEntityError
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType

from setpoint.testing.real import Cluster, Kubectl

GROUP = "clients.example.com"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 10},
                "colour": {"type": "string", "default": "blue", "enum": ["blue", "red"]},
                "parts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                },
            },
            "x-kubernetes-validations": [{"rule": "self.size < 10 || self.colour == 'red'", "message": "ten are red"}],
        },
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
    },
}
pytestmark = pytest.mark.usefixtures("definition")
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                },
            }
        ],
    },
}
TEN_BLUE = {"spec": {"size": 10}}


@pytest.fixture(scope="module")
def definition(kubectl: Kubectl, shared_cluster: Cluster) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = kubernetes.config.new_client_from_config(str(shared_cluster.kubeconfig))
    with client:
        extensions = kubernetes.client.ApiextensionsV1Api(client)
        extensions.create_custom_resource_definition(DEFINITION)
        kubectl("wait", "--for=condition=Established", f"crd/gadgets.{GROUP}", "--timeout=10s")
        yield
        extensions.delete_custom_resource_definition(f"gadgets.{GROUP}")


def body(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec}


def test_the_official_dynamic_client(shared_cluster: Cluster, namespace: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = kubernetes.config.new_client_from_config(str(shared_cluster.kubeconfig))
    with client:
        gadgets = DynamicClient(client).resources.get(api_version=f"{GROUP}/v1", kind="Gadget")
        made = gadgets.create(body=body("a", size=1), namespace=namespace)
        assert (made.spec.size, made.spec.colour, made.metadata.generation) == (1, "blue", 1)
        with pytest.raises(ConflictError, match="already exists"):
            gadgets.create(body=body("a", size=1), namespace=namespace)
        with pytest.raises(UnprocessibleEntityError, match="ten are red"):
            gadgets.patch(body=TEN_BLUE, name="a", namespace=namespace, content_type="application/merge-patch+json")
        applied = gadgets.server_side_apply(body=body("a", size=3, parts=[{"name": "x", "count": 1}]), namespace=namespace,
                                            name="a", field_manager="one", force_conflicts=True)  # fmt: skip
        assert applied.spec.size == 3
        other = gadgets.server_side_apply(
            body={**body("a"), "spec": {"parts": [{"name": "y"}]}}, namespace=namespace, name="a", field_manager="two"
        )
        assert [part.name for part in other.spec.parts] == ["x", "y"]
        status = gadgets.status.patch(
            body={"status": {"ready": True}, "spec": {"size": 9}},
            name="a",
            namespace=namespace,
            content_type="application/merge-patch+json",
        )
        assert (status.status.ready, status.spec.size) == (True, 3)
        seen = [event["type"] for event in gadgets.watch(namespace=namespace, timeout=1)]
        assert seen == ["ADDED"]
        gadgets.delete(name="a", namespace=namespace)
        with pytest.raises(NotFoundError):
            gadgets.get(name="a", namespace=namespace)


def test_lightkube(shared_cluster: Cluster, namespace: str) -> None:
    gadget: Any = create_namespaced_resource(GROUP, "v1", "Gadget", "gadgets")
    config = lightkube.KubeConfig.from_file(str(shared_cluster.kubeconfig))
    client: Any = lightkube.Client(config=config, namespace=namespace, field_manager="light")
    seen: list[str] = []

    def watch() -> None:
        for kind, obj in client.watch(gadget, server_timeout=20):
            seen.append(f"{kind} {obj.metadata.name}")
            if kind == "DELETED":
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    made = client.apply(gadget(metadata={"name": "l", "namespace": namespace}, spec={"size": 2}, apiVersion=f"{GROUP}/v1",
                               kind="Gadget"))  # fmt: skip
    assert made.spec == {"size": 2, "colour": "blue"}
    with pytest.raises(ApiError, match="ten are red"):
        client.patch(gadget, "l", TEN_BLUE, patch_type=PatchType.MERGE)
    patched = client.patch(gadget, "l", {"spec": {"colour": "red", "size": 10}}, patch_type=PatchType.MERGE)
    assert patched.spec["size"] == 10
    scale = client.get(gadget.Scale, "l")
    assert scale.spec.replicas == 10
    assert [each.metadata.name for each in client.list(gadget)] == ["l"]
    client.delete(gadget, "l")
    watcher.join(20)
    assert seen[0] == "ADDED l"
    assert seen[-1] == "DELETED l"


@pytest.mark.filterwarnings("ignore:Kubernetes version:UserWarning")
async def test_kr8s(shared_cluster: Cluster, namespace: str) -> None:
    api = await kr8s.asyncio.api(kubeconfig=str(shared_cluster.kubeconfig), namespace=namespace)
    gadget: Any = new_class("Gadget", f"{GROUP}/v1", namespaced=True, asyncio=True, plural="gadgets")
    made = await gadget({**body("k", size=4), "metadata": {"name": "k", "namespace": namespace}}, api=api)
    await made.create()
    assert await made.exists()
    await made.refresh()
    assert made.spec.colour == "blue"
    await made.patch({"spec": {"size": 5}})
    assert made.spec.size == 5
    await made.label({"tier": "front"})
    found = [each.name async for each in gadget.list(api=api, namespace=namespace, label_selector="tier=front")]
    assert found == ["k"]
    events: list[str] = []

    async def watch() -> None:
        async for kind, _ in api.watch(gadget, namespace=namespace):
            events.append(kind)
            if kind == "DELETED":
                return

    watching = asyncio.ensure_future(watch())
    await asyncio.sleep(0.2)
    await made.delete()
    await asyncio.wait_for(watching, 20)
    assert events[-1] == "DELETED"
