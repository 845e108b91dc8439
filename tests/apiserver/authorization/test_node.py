"""What follows from a node's pods changes with them."""

from __future__ import annotations

from setpoint.registry.pod.references import of_pod, volume_secrets

from .conftest import World, node, person, pod

N1, N2 = node("n1"), node("n2")
SECRET = "GET /api/v1/namespaces/team/secrets/s1"


async def test_rights_come_and_go_with_the_pod(populated: World) -> None:
    assert not await populated.refused(SECRET, N1)
    await populated("DELETE /api/v1/namespaces/team/pods/p1?gracePeriodSeconds=0")
    assert "no relationship found between node 'n1' and this object" in await populated.refused(SECRET, N1)
    await populated("POST /api/v1/namespaces/team/pods", body=pod("p1", "n2", 1))
    assert not await populated.refused(SECRET, N2)
    assert await populated.refused(SECRET, N1)


async def test_a_binding_gives_rights_at_once(populated: World) -> None:
    waiting = pod("p3", "", 3)
    del waiting["spec"]["nodeName"]
    await populated("POST /api/v1/namespaces/team/serviceaccounts", body={"metadata": {"name": "robot3"}})
    await populated("POST /api/v1/namespaces/team/pods", body=waiting)
    question = "GET /api/v1/namespaces/team/configmaps/c3"
    assert await populated.refused(question, N1)
    binding = {"metadata": {"name": "p3"}, "target": {"kind": "Node", "name": "n1"}}
    await populated("POST /api/v1/namespaces/team/pods/p3/binding", body=binding)
    assert not await populated.refused(question, N1)


async def test_ephemeral_containers_bring_new_references(populated: World) -> None:
    question = "GET /api/v1/namespaces/team/secrets/debug"
    assert await populated.refused(question, N1)
    container = {"name": "e", "image": "i", "envFrom": [{"secretRef": {"name": "debug"}}]}
    body = {"spec": {"ephemeralContainers": [container]}}
    path = "PATCH /api/v1/namespaces/team/pods/p1/ephemeralcontainers"
    await populated(path, body=body, content_type="application/strategic-merge-patch+json")
    assert not await populated.refused(question, N1)


async def test_only_nodes_are_nodes(populated: World) -> None:
    for other in (person("system:node:n1"), person("n1", "system:nodes"), person("system:node:", "system:nodes")):
        assert await populated.refused(SECRET, other)


def test_references_of_a_pod() -> None:
    sources = [{"secret": {"name": "a"}}, {"configMap": {"name": "b"}}]
    value = {"valueFrom": {"secretKeyRef": {"name": "d"}}}
    found = of_pod(
        {
            "metadata": {"name": "p"},
            "spec": {
                "serviceAccountName": "sa",
                "imagePullSecrets": [{"name": "pull"}, {}],
                "initContainers": [{"env": [value, {"value": "x"}]}],
                "volumes": [
                    {"name": "v", "projected": {"sources": sources}},
                    {"name": "e", "ephemeral": {"volumeClaimTemplate": {}}},
                    {"name": "s", "secret": {"secretName": "c"}},
                    {"name": "i", "csi": {"nodePublishSecretRef": {"name": "n"}}},
                ],
                "resourceClaims": [{"name": "r", "resourceClaimName": "rc"}],
            },
            "status": {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "made"}]},
        }
    )
    assert found.secrets == {"pull", "a", "c", "d", "n"}
    assert found.configmaps == {"b"}
    assert found.claims == {"p-e"}
    assert found.accounts == {"sa"}
    assert found.resource_claims == {"rc", "made"}


def test_a_mirror_pod_refers_to_nothing() -> None:
    metadata = {"name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}}
    assert not of_pod({"metadata": metadata, "spec": {"imagePullSecrets": [{"name": "a"}]}}).secrets


def test_secrets_of_a_volume_lie_beside_its_claim_or_where_it_says() -> None:
    spec = {
        "claimRef": {"namespace": "team", "name": "c"},
        "azureFile": {"secretName": "a"},
        "csi": {"nodeStageSecretRef": {"name": "b", "namespace": "x"}, "controllerPublishSecretRef": {"name": "no"}},
    }
    assert volume_secrets({"spec": spec}) == {("team", "a"), ("x", "b")}
