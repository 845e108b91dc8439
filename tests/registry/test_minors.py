"""A choice of Kubernetes minor: kinds, versions and fields are the minor's."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.apiserver.conftest import Api

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.request import Request
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import GROUPS, RESOURCES, minors
from setpoint.storage.backends.memory import memory_store

_FLOW = "/apis/flowcontrol.apiserver.k8s.io"


async def served(minor: str) -> Api:
    """The whole API of one minor, with the objects that describe the server."""
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443", minor=minor)
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="kube-apiserver", clock=clock)
    await bootstrap.ensure(client, service_address="10.96.0.1", port=6443)
    await bootstrap.describe_server(client, service_range="10.96.0.0/16", minor=minor)
    return Api(pipeline, clock, store)


async def get(api: Api, path: str) -> Any:
    response = await api.pipeline.handle(Request("GET", path, user=ADMIN))
    return response, orjson.loads(response.body or b"null") if response.headers["Content-Type"] == "application/json" else None


def test_the_packs_are_those_of_the_minors() -> None:
    assert trees.minors() == minors.MINORS


def test_the_default_minor_is_the_table_itself() -> None:
    assert (minors.of_minor("1.36").groups, minors.of_minor("1.36").resources) == (GROUPS, RESOURCES)


def test_an_unknown_minor_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match=r"Kubernetes 1\.24 is not known; choose one of 1\.25, .*1\.37"):
        minors.of_minor("1.24")


@pytest.mark.parametrize("minor", minors.MINORS)
def test_every_served_version_has_its_schema(minor: str) -> None:
    chosen, pack = minors.of_minor(minor), trees.load(minor)
    for row in chosen.resources:
        assert set(row.versions) <= set(dict(chosen.groups)[row.group])
        for version in row.versions:
            assert row.definitions[version] in pack.definitions, (minor, row.group_resource, version)


@pytest.mark.parametrize(
    ("minor", "group", "versions"),
    [
        ("1.25", "autoscaling", ("v2", "v1", "v2beta2")),
        ("1.26", "autoscaling", ("v2", "v1")),
        ("1.25", "flowcontrol.apiserver.k8s.io", ("v1beta2", "v1beta1")),
        ("1.28", "flowcontrol.apiserver.k8s.io", ("v1beta3", "v1beta2")),
        ("1.31", "flowcontrol.apiserver.k8s.io", ("v1", "v1beta3")),
        ("1.32", "flowcontrol.apiserver.k8s.io", ("v1",)),
        ("1.26", "storage.k8s.io", ("v1", "v1beta1")),
        ("1.27", "storage.k8s.io", ("v1",)),
        ("1.25", "batch", ("v1",)),
        ("1.25", "policy", ("v1",)),
        ("1.29", "admissionregistration.k8s.io", ("v1",)),
        ("1.33", "resource.k8s.io", None),
        ("1.34", "resource.k8s.io", ("v1",)),
        ("1.36", "storagemigration.k8s.io", None),
        ("1.37", "storagemigration.k8s.io", ("v1",)),
    ],
)
def test_versions_by_minor(minor: str, group: str, versions: tuple[str, ...] | None) -> None:
    assert dict(minors.of_minor(minor).groups).get(group) == versions


@pytest.mark.parametrize(
    ("group", "plural", "since"),
    [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies", 30),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies", 36),
        ("authentication.k8s.io", "selfsubjectreviews", 28),
        ("networking.k8s.io", "servicecidrs", 33),
        ("storage.k8s.io", "volumeattributesclasses", 34),
        ("certificates.k8s.io", "clustertrustbundles", 37),
    ],
)
def test_kinds_come_with_their_minor(group: str, plural: str, since: int) -> None:
    for minor in minors.MINORS:
        there = minors.of_minor(minor).find(group, plural) is not None
        assert there is (int(minor[2:]) >= since), minor


def test_resize_is_served_since_1_33() -> None:
    def names(minor: str) -> set[str]:
        row = minors.of_minor(minor).find("", "pods")
        assert row is not None
        return {sub.name for sub in row.subresources}

    assert "resize" not in names("1.32")
    assert "resize" in names("1.33")


@pytest.mark.parametrize("minor", minors.MINORS)
async def test_every_minor_starts_and_lists_all_that_it_serves(minor: str) -> None:
    api = await served(minor)
    response, version = await get(api, "/version")
    assert (version["major"], version["minor"]) == ("1", minor[2:])
    for row in minors.of_minor(minor).resources:
        if "list" not in row.verbs:
            continue
        for each in row.versions:
            root = f"/apis/{row.group}/{each}" if row.group else f"/api/{each}"
            response, found = await get(api, f"{root}/{row.plural}")
            assert response.status == 200, (row.group_resource, found)
            assert found["kind"] == f"{row.kind}List"
    response, _ = await get(api, "/openapi/v2")
    assert response.status == 200


async def test_an_older_version_is_converted_and_warned_about() -> None:
    api = await served("1.25")
    response, level = await get(api, f"{_FLOW}/v1beta1/prioritylevelconfigurations/workload-low")
    assert level["apiVersion"] == "flowcontrol.apiserver.k8s.io/v1beta1"
    assert level["spec"]["limited"]["assuredConcurrencyShares"] == 100
    assert "nominalConcurrencyShares" not in level["spec"]["limited"]
    [warning] = response.warnings
    assert warning == (
        "flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration is deprecated in v1.23+, unavailable in v1.26+; "
        "use flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration"
    )
    response, _ = await get(api, f"{_FLOW}/v1/prioritylevelconfigurations")
    assert response.status == 404


async def test_what_was_not_yet_deprecated_is_not_warned_about() -> None:
    for minor, count in (("1.32", 0), ("1.33", 1)):
        response, _ = await get(await served(minor), "/api/v1/namespaces/default/endpoints")
        assert len(response.warnings) == count
    response, _ = await get(await served("1.28"), f"{_FLOW}/v1beta3/flowschemas")
    assert not response.warnings


async def test_fields_are_those_of_the_minor() -> None:
    job = {
        "metadata": {"name": "j"},
        "spec": {
            "podReplacementPolicy": "Failed",
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}},
        },
    }
    for minor, known in (("1.25", False), ("1.36", True)):
        api = await served(minor)
        response = await api.pipeline.handle(
            Request("POST", "/apis/batch/v1/namespaces/default/jobs", body=orjson.dumps(job), user=ADMIN)
        )
        made = orjson.loads(response.body or b"")
        assert response.status == 201, made
        assert ("podReplacementPolicy" in made["spec"]) is known
        assert ("podReplacementPolicy" in orjson.dumps(made["metadata"]["managedFields"]).decode()) is known
        assert list(response.warnings) == ([] if known else ['unknown field "spec.podReplacementPolicy"'])
