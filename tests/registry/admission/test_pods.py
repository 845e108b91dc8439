"""What admission asks of pods beyond validation: secrets of strict accounts, runtime classes, what their node can do."""

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, pod

from setpoint.api.machinery import quota
from setpoint.registry.admission.mountable_secrets import ephemeral_references, pod_references
from setpoint.registry.admission.runtime_class import merge_tolerations

PODS = "/api/v1/namespaces/default/pods"
NOT_LISTED = "is not allowed because service account strict does not reference that secret"
ACCOUNT: Json = {"metadata": {"name": "strict"}, "secrets": [{"name": "mine"}], "imagePullSecrets": [{"name": "pull"}]}
KEY = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"volumes": [{"name": "v", "secret": {"secretName": "mine"}}], "imagePullSecrets": [{"name": "pull"}]}, ""),
        ({"volumes": [{"name": "v", "secret": {"secretName": "other"}}]}, f'volume with secret.secretName="other" {NOT_LISTED}'),
        (
            {"initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "other"}}]}]},
            f'init container i with envFrom referencing secret.secretName="other" {NOT_LISTED}',
        ),
        (
            {"containers": [{"name": "c", "env": [KEY]}]},
            f'container c with envVar X referencing secret.secretName="other" {NOT_LISTED}',
        ),
        (
            {"imagePullSecrets": [{"name": "pull"}, {"name": "mine"}]},
            f'imagePullSecrets[1].name="mine" {NOT_LISTED.replace("secret", "imagePullSecret")}',
        ),
    ],
)
def test_the_secrets_of_strict_accounts(spec: Json, wanted: str) -> None:
    assert pod_references(spec, ACCOUNT) == wanted


def test_ephemeral_containers_of_strict_accounts() -> None:
    refused = f'ephemeral container e with envVar X referencing secret.secretName="other" {NOT_LISTED}'
    assert ephemeral_references({"ephemeralContainers": [{"name": "e", "env": [KEY]}]}, ACCOUNT) == refused


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ([{"key": "a", "operator": "Exists"}], [{"key": "a", "operator": "Exists"}], [0]),
        ([{"key": "a", "operator": "Equal", "value": "x"}], [{"operator": "Exists"}], [1]),
        ([{"key": "a", "operator": "Exists"}], [{"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"}], [0]),
        ([{"key": "a", "operator": "Equal", "value": "x"}], [{"key": "a", "operator": "Equal", "value": "y"}], [0, 1]),
        (
            [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            [{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
            [1],
        ),
    ],
)
def test_of_two_tolerations_the_wider_one_is_kept(first: list[Json], second: list[Json], kept: list[int]) -> None:
    assert merge_tolerations(first, second) == [[*first, *second][index] for index in kept]


def test_what_quotas_demand_of_containers_a_pod_may_say_for_all() -> None:
    assert quota.undemanded(["requests.cpu"], pod()) == "requests.cpu for: c"
    assert quota.undemanded(["requests.cpu"], pod({"resources": {"requests": {"memory": "1Gi"}}})) == ""


def test_a_failed_expansion_stays_charged() -> None:
    claim = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"allocatedResources": {"storage": "2Gi"}}}
    assert str(quota.usage("persistentvolumeclaims", claim, 0.0)["requests.storage"]) == "2Gi"


async def test_refusals_call_a_nameless_object_by_what_its_name_begins_with(api: Api) -> None:
    wanted = {"spec": {**pod()["spec"], "priorityClassName": "none"}}
    for metadata, name in (({"generateName": "web-"}, "web-"), ({}, "Unknown")):
        refused = await api(f"POST {PODS}", {"metadata": metadata, **wanted}, code=403)
        assert refused["message"] == f'pods "{name}" is forbidden: no PriorityClass with name none was found'
        assert refused["details"]["name"] == name


async def test_a_pod_changes_into_what_its_node_can_do(api: Api) -> None:
    resources: dict[str, Any] = {"requests": {"cpu": "10m"}}
    await api(f"POST {PODS}", pod({"nodeName": "n"}, resources=resources))
    more = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}

    async def refused(patch: Json) -> tuple[str, list[Json]]:
        strategic = "application/strategic-merge-patch+json"
        status = await api(f"PATCH {PODS}/p/resize", patch, code=403, content_type=strategic)
        return status["message"].removeprefix('pods "p" is forbidden: '), status["details"].get("causes", [])

    assert await refused(more) == ('node "n" not found', [])
    await api("POST /api/v1/nodes", {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}})
    lacking = "Node didn't have enough allocatable resources: cpu, requested: 2000, allocatable: 1000"
    assert await refused(more) == (lacking, [{"reason": "NodeCapacity"}])
    less = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "20m"}}}]}}
    elsewhere = 'pod resize is only supported on linux nodes, node "n" is ""'
    assert await refused(less) == (elsewhere, [{"reason": "UnsupportedPlatform"}])


async def test_init_containers_are_resized_where_the_node_can(api: Api) -> None:
    def init(cpu: str) -> list[Json]:
        names = [{"name": "side", "restartPolicy": "Always"}, {"name": "plain"}]
        return [{**one, "image": "i", "resources": {"requests": {"cpu": cpu}}} for one in names]

    linux: Json = {"name": "n", "labels": {"kubernetes.io/os": "linux"}}
    node = {"metadata": linux, "status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}}
    await api("POST /api/v1/nodes", node)
    await api(f"POST {PODS}", pod({"nodeName": "n", "initContainers": init("1m")}))
    strategic = "application/strategic-merge-patch+json"
    sidecar = {"spec": {"initContainers": [{"name": "side", "resources": {"requests": {"cpu": "2m"}}}]}}
    await api(f"PATCH {PODS}/p/resize", sidecar, content_type=strategic)
    both = {"spec": {"initContainers": [{"name": "plain", "resources": {"requests": {"cpu": "2m"}}}]}}
    refused = await api(f"PATCH {PODS}/p/resize", both, code=403, content_type=strategic)
    feature = "InPlacePodVerticalScalingInitContainers"
    assert refused["message"] == (
        f'pods "p" is forbidden: pod update requires features {feature} which are not available on node "n"'
    )
    able = {"status": {"declaredFeatures": [feature]}}
    await api("PATCH /api/v1/nodes/n/status", able, content_type="application/merge-patch+json")
    await api(f"PATCH {PODS}/p/resize", both, content_type=strategic)


@pytest.mark.parametrize("path", ["pods/p/binding", "pods/p/eviction"])
async def test_a_namespace_that_is_missing_comes_first(api: Api, path: str) -> None:
    """Admission sees the bodies of subresources before anybody else looks into them."""
    refused = await api(f"POST /api/v1/namespaces/nowhere/{path}", {"metadata": {"name": "other"}}, code=404)
    assert refused["message"] == 'namespaces "nowhere" not found'
