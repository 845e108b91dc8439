"""The official Python client and kubernetes_asyncio against a real server: all they offer for the objects of a loop."""

from __future__ import annotations

import asyncio
import gc
import itertools
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any

import kubernetes
import kubernetes_asyncio
import pytest
from kubernetes.client.exceptions import ApiException
from kubernetes.stream import stream
from kubernetes_asyncio.stream import WsApiClient

from setpoint.testing.real import Cluster, eventually

POD = {
    "metadata": {"name": "p", "labels": {"app": "p"}},
    "spec": {
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {"name": "app", "image": "demo:v1", "command": ["sh", "-c", "echo one; echo two; echo three; exec sleep 1000"]},
        ],
    },
}
LABELS = {"app": "d"}
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "app", "image": "demo:v1", "command": ["sleep", "1000"]}],
            },
        },
    },
}


@pytest.fixture(scope="module")
def client(shared_cluster: Cluster) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with kubernetes.config.new_client_from_config(str(shared_cluster.kubeconfig)) as made:
            yield made


@pytest.fixture
def core(client: Any) -> Any:
    return kubernetes.client.CoreV1Api(client)


@pytest.fixture
def apps(client: Any) -> Any:
    return kubernetes.client.AppsV1Api(client)


_count = itertools.count()


@pytest.fixture
def space(core: Any) -> Iterator[str]:
    """A namespace of the test's own, whose pods can be made at once."""
    name = f"py-{next(_count)}"
    core.create_namespace({"metadata": {"name": name}})
    eventually(lambda: any(held.metadata.name == "default" for held in core.list_namespaced_service_account(name).items))
    yield name
    core.delete_namespace(name)


@pytest.fixture
def forgotten_sockets() -> Iterator[None]:
    """The official client never closes the socket of an exec that the server ended; Python is not to complain of it later."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


def running(core: Any, space: str) -> Any:
    """The pod `p`, made and ready."""
    core.create_namespaced_pod(space, POD)
    eventually(lambda: ready(core.read_namespaced_pod("p", space)), seconds=40)
    return core.read_namespaced_pod("p", space)


def ready(pod: Any) -> bool:
    statuses = pod.status.container_statuses or []
    return bool(statuses) and all(status.ready for status in statuses)


def test_create_read_replace_list_and_delete(core: Any, space: str) -> None:
    made = core.create_namespaced_config_map(space, kubernetes.client.V1ConfigMap(metadata={"name": "c"}, data={"k": "1"}))
    assert core.read_namespaced_config_map("c", space).metadata.uid == made.metadata.uid
    made.data = {"k": "2"}
    replaced = core.replace_namespaced_config_map("c", space, made)
    assert replaced.data == {"k": "2"}
    with pytest.raises(ApiException) as stale:
        core.replace_namespaced_config_map("c", space, made)
    assert (stale.value.status, stale.value.reason) == (409, "Conflict")
    listed = core.list_namespaced_config_map(space, label_selector="!none", field_selector="metadata.name=c")
    assert [item.metadata.name for item in listed.items] == ["c"]
    assert int(listed.metadata.resource_version) >= int(replaced.metadata.resource_version)
    core.delete_namespaced_config_map("c", space)
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_config_map("c", space)
    assert missing.value.status == 404


def test_pages(core: Any, space: str) -> None:
    names = [f"c{number}" for number in range(5)]
    for name in names:
        core.create_namespaced_config_map(space, {"metadata": {"name": name, "labels": {"page": "x"}}})
    seen: list[str] = []
    token = None
    while token != "":
        page = core.list_namespaced_config_map(space, limit=2, label_selector="page=x", _continue=token)
        seen += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert seen == names
    core.delete_collection_namespaced_config_map(space, label_selector="page=x")
    assert core.list_namespaced_config_map(space, label_selector="page=x").items == []


PATCHES = {
    "application/merge-patch+json": {"metadata": {"labels": {"l": "1"}}},
    "application/strategic-merge-patch+json": {
        "spec": {"template": {"spec": {"containers": [{"name": "app", "env": [{"name": "A", "value": "1"}]}]}}}
    },
    "application/json-patch+json": [{"op": "replace", "path": "/spec/replicas", "value": 0}],
    "application/apply-patch+yaml": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "annotations": {"applied": "yes"}},
    },
}


def test_every_kind_of_patch(apps: Any, space: str) -> None:
    apps.create_namespaced_deployment(space, DEPLOYMENT)
    for media, patch in PATCHES.items():
        extra = {"field_manager": "test", "force": True} if "apply" in media else {}
        apps.patch_namespaced_deployment("d", space, patch, _content_type=media, **extra)
    held = apps.read_namespaced_deployment("d", space)
    (container,) = held.spec.template.spec.containers
    assert held.metadata.labels == {"l": "1"}
    assert held.metadata.annotations["applied"] == "yes"
    assert held.spec.replicas == 0
    assert (container.image, container.env[0].name, container.command) == ("demo:v1", "A", ["sleep", "1000"])
    managers = {(entry.manager, entry.operation) for entry in held.metadata.managed_fields}
    assert ("test", "Apply") in managers
    scaled = apps.patch_namespaced_deployment_scale("d", space, {"spec": {"replicas": 2}})
    assert scaled.spec.replicas == 2
    assert apps.read_namespaced_deployment("d", space).spec.replicas == 2


def test_a_watch_follows_a_deployment_until_it_is_available(apps: Any, space: str) -> None:
    apps.create_namespaced_deployment(space, DEPLOYMENT)
    watch = kubernetes.watch.Watch()
    seen = []
    for event in watch.stream(apps.list_namespaced_deployment, space, timeout_seconds=60):
        seen.append(event["type"])
        if (event["object"].status.available_replicas or 0) == 1:
            watch.stop()
    assert seen[0] == "ADDED"
    assert set(seen[1:]) == {"MODIFIED"}


def test_a_watch_resumes_where_it_ended(core: Any, space: str) -> None:
    version = core.list_namespaced_config_map(space).metadata.resource_version
    for name in ("a", "b"):
        core.create_namespaced_config_map(space, {"metadata": {"name": name}})
    core.delete_namespaced_config_map("a", space)
    watch = kubernetes.watch.Watch()
    seen = []
    for event in watch.stream(core.list_namespaced_config_map, space, resource_version=version, timeout_seconds=20):
        if event["object"].metadata.name in ("a", "b"):
            seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watch.stop()
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_logs(core: Any, space: str) -> None:
    running(core, space)
    eventually(lambda: core.read_namespaced_pod_log("p", space) == "one\ntwo\nthree\n")
    assert core.read_namespaced_pod_log("p", space, tail_lines=1) == "three\n"
    assert core.read_namespaced_pod_log("p", space, limit_bytes=4) == "one\n"
    stamped = core.read_namespaced_pod_log("p", space, timestamps=True, tail_lines=1)
    assert stamped.endswith("Z three\n")
    watch = kubernetes.watch.Watch()
    lines = []
    for line in watch.stream(core.read_namespaced_pod_log, "p", space, follow=True):
        lines.append(line)
        if len(lines) == 3:
            watch.stop()
    assert lines == ["one", "two", "three"]


@pytest.mark.usefixtures("forgotten_sockets")
def test_exec(core: Any, space: str) -> None:
    running(core, space)
    said = stream(core.connect_get_namespaced_pod_exec, "p", space, command=["echo", "inside"], stdout=True, stderr=True)
    assert said == "inside\n"
    opened = stream(
        core.connect_get_namespaced_pod_exec,
        "p",
        space,
        command=["sh", "-c", "read line; echo got $line; echo bad >&2; exit 7"],
        stdin=True,
        stdout=True,
        stderr=True,
        _preload_content=False,
    )
    opened.write_stdin("word\n")
    opened.run_forever(timeout=20)
    assert opened.read_stdout(timeout=5) == "got word\n"
    assert opened.read_stderr(timeout=5) == "bad\n"
    assert opened.returncode == 7
    opened.close()


def test_objects_that_were_created_from_yaml(client: Any, core: Any, space: str) -> None:
    kubernetes.utils.create_from_dict(
        client, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}}, namespace=space
    )
    assert core.read_namespaced_config_map("y", space).metadata.name == "y"


def test_the_dynamic_client_finds_its_kinds_by_discovery(client: Any, space: str) -> None:
    dynamic = kubernetes.dynamic.DynamicClient(client)
    deployments = dynamic.resources.get(api_version="apps/v1", kind="Deployment")
    assert deployments.create(body=DEPLOYMENT, namespace=space).spec.replicas == 1
    changed = deployments.patch(
        body={"spec": {"replicas": 0}}, name="d", namespace=space, content_type="application/merge-patch+json"
    )
    assert changed.spec.replicas == 0
    applied = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "labels": {"applied": "yes"}}}
    done = dynamic.server_side_apply(deployments, body=applied, name="d", namespace=space, field_manager="dynamic")
    assert done.metadata.labels.applied == "yes"
    deployments.delete(name="d", namespace=space)


@pytest.fixture
async def async_client(shared_cluster: Cluster) -> AsyncIterator[Any]:
    configuration = kubernetes_asyncio.client.Configuration()
    await kubernetes_asyncio.config.load_kube_config(str(shared_cluster.kubeconfig), client_configuration=configuration)
    async with kubernetes_asyncio.client.ApiClient(configuration) as made:
        yield made


async def test_asyncio_objects_patches_and_watches(async_client: Any, space: str) -> None:
    core: Any = kubernetes_asyncio.client.CoreV1Api(async_client)
    made = await core.create_namespaced_config_map(space, {"metadata": {"name": "c"}, "data": {"k": "1"}})

    async def follow() -> list[str]:
        seen = []
        version = made.metadata.resource_version
        async with kubernetes_asyncio.watch.Watch() as watch:
            async for event in watch.stream(core.list_namespaced_config_map, space, resource_version=version, timeout_seconds=30):
                if event["object"].metadata.name == "c":
                    seen.append(event["type"])
                if event["type"] == "DELETED":
                    break
        return seen

    following = asyncio.ensure_future(follow())
    for media, patch in {
        "application/merge-patch+json": {"data": {"k": "2"}},
        "application/strategic-merge-patch+json": {"metadata": {"labels": {"l": "1"}}},
        "application/json-patch+json": [{"op": "test", "path": "/data/k", "value": "2"}],
    }.items():
        changed = await core.patch_namespaced_config_map("c", space, patch, _content_type=media)
    assert (changed.data, changed.metadata.labels) == ({"k": "2"}, {"l": "1"})
    changed.data = {"k": "3"}
    await core.replace_namespaced_config_map("c", space, changed)
    assert [item.data for item in (await core.list_namespaced_config_map(space, label_selector="l=1")).items] == [{"k": "3"}]
    await core.delete_namespaced_config_map("c", space)
    assert await asyncio.wait_for(following, 30) == ["MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]


async def test_asyncio_logs_and_exec(async_client: Any, core: Any, space: str) -> None:
    await asyncio.to_thread(running, core, space)
    own: Any = kubernetes_asyncio.client.CoreV1Api(async_client)
    assert await own.read_namespaced_pod_log("p", space) == "one\ntwo\nthree\n"
    async with WsApiClient(configuration=async_client.configuration) as streaming:
        streams: Any = kubernetes_asyncio.client.CoreV1Api(streaming)
        said = await streams.connect_get_namespaced_pod_exec(
            "p", space, command=["sh", "-c", "echo inside; echo beside >&2"], stdout=True, stderr=True
        )
    assert sorted(said.splitlines()) == ["beside", "inside"]
