"""Much of everything: a directory of thousands of manifests, a list of tens of thousands by pages, a schema of a megabyte.

SETPOINT_MANY is by how much these are greater than in `make test`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.real import KUBECTL, Cluster, Kubectl

TIMES = int(os.environ.get("SETPOINT_MANY", "1"))
LISTED = 1_000 * TIMES
APPLIED = 40 * TIMES
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


async def test_a_list_by_pages_is_one_moment_while_everything_changes() -> None:
    """Nothing is missed, nothing is there twice, and nothing that came or went meanwhile shows."""
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = Pipeline(RESOURCES, store, clock, schemas=trees.load())

    async def say(method: str, path: str, body: Any = None, **query: str) -> Any:
        headers = {
            "user-agent": "many/1",
            "content-type": "application/merge-patch+json" if method == "PATCH" else "application/json",
        }
        sent = b"" if body is None else orjson.dumps(body)
        asked = {name.rstrip("_"): [value] for name, value in query.items()}
        answer = await pipeline.handle(Request(method=method, path=path, query=asked, headers=headers, body=sent, user=ADMIN))
        assert answer.status < 400, answer.body
        await answer.gather()
        return orjson.loads(answer.body or b"null")

    await say("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    for number in range(LISTED):
        await say("POST", CONFIGMAPS, {"metadata": {"name": f"m-{number:06}"}, "data": {"n": "0"}})

    page = await say("GET", CONFIGMAPS, limit=str(LISTED // 10))
    version, found, pages = page["metadata"]["resourceVersion"], page["items"], 1
    while token := page["metadata"].get("continue"):
        low, high = pages * 137 % LISTED, (pages * LISTED // 10 + 7) % LISTED
        await say("PATCH", f"{CONFIGMAPS}/m-{high:06}", {"data": {"n": str(pages)}})
        await say("POST", CONFIGMAPS, {"metadata": {"name": f"m-{high:06}-new"}})
        await say("DELETE", f"{CONFIGMAPS}/m-{low:06}")
        page = await say("GET", CONFIGMAPS, limit=str(LISTED // 10), continue_=token)
        assert page["metadata"]["resourceVersion"] == version
        found += page["items"]
        pages += 1
        await asyncio.sleep(0)
    assert [each["metadata"]["name"] for each in found] == [f"m-{number:06}" for number in range(LISTED)]
    assert {each["data"]["n"] for each in found} == {"0"}
    await store.close()


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    if shutil.which(KUBECTL) is None:
        pytest.skip("kubectl is not installed")
    cluster = Cluster(tmp_path / "data", ["--port", "0", "--nodes", "0"])
    cluster.start()
    yield Kubectl(cluster.kubeconfig, tmp_path / "home")
    cluster.stop()


def _manifests(folder: Path) -> None:
    folder.mkdir()
    for number in range(APPLIED):
        meta = f"metadata:\n  name: o-{number}\n  labels: {{many: objects}}\n"
        bodies: tuple[Callable[[], str], ...] = (
            lambda meta=meta: f"apiVersion: v1\nkind: ConfigMap\n{meta}data: {{a: b}}\n",  # type: ignore[misc]  # this round's
            lambda meta=meta: f"apiVersion: v1\nkind: Secret\n{meta}data: {{a: Yg==}}\n",  # type: ignore[misc]  # this round's
            lambda meta=meta: f"apiVersion: v1\nkind: Service\n{meta}spec:\n  ports: [{{port: 80}}]\n",  # type: ignore[misc]  # this round's
            lambda meta=meta: f"apiVersion: v1\nkind: ServiceAccount\n{meta}",  # type: ignore[misc]  # this round's
        )
        (folder / f"{number}.yaml").write_text(bodies[number % 4]())


@pytest.mark.timeout(1800)
def test_kubectl_applies_a_directory_of_thousands(kubectl: Kubectl, tmp_path: Path) -> None:
    _manifests(tmp_path / "manifests")
    created = kubectl("apply", "-f", str(tmp_path / "manifests"), seconds=900)
    assert created.count(" created\n") == APPLIED
    # for each object that is there kubectl reads the OpenAPI document of the group anew: most of the time is its own
    again = kubectl("apply", "-f", str(tmp_path / "manifests"), seconds=900)
    assert again.count(" unchanged\n") == APPLIED
    kubectl("delete", "configmaps,secrets,services,serviceaccounts", "-l", "many=objects", "--wait=false", seconds=900)
    assert not kubectl("get", "configmaps,secrets,services,serviceaccounts", "-l", "many=objects", "-o", "name")


@pytest.mark.timeout(300)
def test_a_schema_of_a_megabyte(kubectl: Kubectl, tmp_path: Path) -> None:
    """Accepted, served and validated; the definition is created, as such schemas must be, without kubectl's annotation."""
    words = "what this field is for, at length. " * 8
    fields = {
        f"field{number}": {
            "type": "object",
            "description": words,
            "properties": {name: {"type": "string", "description": words} for name in ("one", "two")},
        }
        for number in range(1150)
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "bigs", "kind": "Big", "singular": "big"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "bigs.many.example.com"},
        "spec": {"group": "many.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    sent = orjson.dumps(definition)
    assert len(sent) > 1_000_000
    (tmp_path / "crd.json").write_bytes(sent)
    kubectl("create", "-f", str(tmp_path / "crd.json"))
    kubectl("wait", "--for=condition=Established", "crd/bigs.many.example.com", "--timeout=20s")
    big = {"apiVersion": "many.example.com/v1", "kind": "Big", "metadata": {"name": "b"}}
    kubectl("create", "-f", "-", stdin=orjson.dumps({**big, "spec": {"field1149": {"two": "x"}}}).decode())
    assert kubectl("get", "big", "b", "-o", "jsonpath={.spec.field1149.two}") == "x"
    refused = kubectl.run("create", "-f", "-", stdin=orjson.dumps({**big, "spec": {"field7": {"two": 2}}}).decode())
    assert "spec.field7.two" in refused.stderr
    assert "what this field is for" in kubectl("explain", "big.spec.field9")
