"""Namespaces, config maps, secrets and events."""

from __future__ import annotations

from base64 import b64encode
from copy import deepcopy

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, complaints, context, created

from setpoint.registry.core.config_map import ConfigMapStrategy
from setpoint.registry.core.endpoints import EndpointsStrategy
from setpoint.registry.core.namespace import NamespaceFinalizeStrategy, NamespaceStrategy
from setpoint.registry.core.node import NodeStrategy
from setpoint.registry.core.secret import SecretStrategy
from setpoint.registry.events.conversion import convert_event


def test_a_namespace_gets_its_label_finalizer_and_phase() -> None:
    obj = created(NamespaceStrategy(), {"kind": "Namespace", "metadata": {"name": "a"}})
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert obj["spec"] == {"finalizers": ["kubernetes"]}
    assert obj["status"] == {"phase": "Active"}


def test_finalize_changes_the_finalizers_alone() -> None:
    old = created(NamespaceStrategy(), {"kind": "Namespace", "metadata": {"name": "a"}})
    new = deepcopy(old)
    new["spec"]["finalizers"] = []
    new["status"]["phase"] = "Terminating"
    assert complaints(NamespaceFinalizeStrategy(), new, old) == []
    assert (new["spec"]["finalizers"], new["status"]["phase"]) == ([], "Active")


def test_immutable_config_maps() -> None:
    strategy = ConfigMapStrategy()
    old: Json = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}, "immutable": True}
    new = deepcopy(old) | {"data": {"a": "2"}, "immutable": False}
    assert complaints(strategy, new, old) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]


def test_keys_of_config_maps() -> None:
    texts = complaints(ConfigMapStrategy(), {"metadata": {}, "data": {"a b": "1"}, "binaryData": {"..": "YQ=="}})
    assert [text.partition(":")[0] for text in texts] == ["data[a b]", "binaryData[..]", "binaryData[..]"][: len(texts)]


@pytest.mark.parametrize(
    ("kind", "data", "wanted"),
    [
        ("kubernetes.io/tls", {}, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        ("kubernetes.io/dockerconfigjson", {}, ["data[.dockerconfigjson]: Required value"]),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}, ["data[ssh-privatekey]: Required value"]),
        ("kubernetes.io/basic-auth", {"username": ""}, []),
    ],
)
def test_types_of_secrets(kind: str, data: dict[str, str], wanted: list[str]) -> None:
    assert complaints(SecretStrategy(), {"metadata": {"name": "a"}, "type": kind, "data": data}) == wanted


def test_a_secrets_size() -> None:
    data = {"a": b64encode(bytes(1024 * 1024 + 1)).decode()}
    texts = complaints(SecretStrategy(), {"metadata": {"name": "a"}, "data": data})
    assert texts == ["data: Too long: may not be more than 1048576 bytes"]


def node(spec: Json | None = None, status: Json | None = None) -> Json:
    return {"kind": "Node", "metadata": {"name": "n"}, "spec": spec or {}, "status": status or {}}


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ({"declaredFeatures": ["A", "B/c"]}, []),
        (
            {"declaredFeatures": ["B", "A", "A"]},
            [
                'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
                'status.declaredFeatures[2]: Duplicate value: "A"',
            ],
        ),
        (
            {"declaredFeatures": ["a"]},
            [
                (
                    'status.declaredFeatures[0]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase'
                    " segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain"
                    " only alphanumeric characters and slashes"
                )
            ],
        ),
        (
            {"nodeInfo": {"swap": {"capacity": 0}}},
            ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"],
        ),
    ],
)
def test_the_status_of_nodes(status: Json, wanted: list[str]) -> None:
    assert complaints(NodeStrategy(), node(status=status)) == wanted


def test_fields_of_nodes_that_are_gone() -> None:
    strategy = NodeStrategy()
    old = created(strategy, node({"configSource": {"configMap": {}}, "externalID": "a", "podCIDRs": ["fd00:0::/64"]}))
    assert "configSource" not in old["spec"]
    deprecated, padded = strategy.warnings_on_create(context(), old)
    assert deprecated == "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    assert padded.startswith("spec.podCIDRs[0]: ")
    new = deepcopy(old)
    new["spec"]["externalID"] = "b"
    assert complaints(strategy, new, old) == ["spec.externalID: Forbidden: may not be updated"]


async def test_an_event_is_seen_in_both_groups(api: Api) -> None:
    body = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "Because",
        "message": "hello",
        "type": "Normal",
        "source": {"component": "me"},
        "count": 2,
    }
    await api("POST /api/v1/namespaces/default/events", body)
    other = await api("GET /apis/events.k8s.io/v1/namespaces/default/events/e")
    assert (other["apiVersion"], other["regarding"]["name"], other["note"]) == ("events.k8s.io/v1", "p", "hello")
    assert (other["deprecatedCount"], other["deprecatedSource"]) == (2, {"component": "me"})
    back = convert_event(other, "v1")
    assert (back["involvedObject"]["name"], back["message"], back["count"]) == ("p", "hello", 2)


def test_addresses_of_endpoints_are_warned_about() -> None:
    addresses = [{"ip": "10.0.0.1"}, {"ip": "2001:DB8::1"}]
    obj: Json = {"metadata": {"name": "e"}, "subsets": [{"addresses": addresses}, {"notReadyAddresses": addresses[1:]}]}
    wanted = [
        f'subsets[{path}].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'
        for path in ("0].addresses[1", "1].notReadyAddresses[0")
    ]
    assert EndpointsStrategy().warnings_on_create(context(), obj) == wanted
    assert EndpointsStrategy().warnings_on_update(context(), obj, obj) == wanted
    obj["metadata"]["labels"] = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    assert EndpointsStrategy().warnings_on_create(context(), obj) == []


@pytest.mark.parametrize(
    ("path", "obj", "place"),
    [
        ("namespaces/default/services/x", {"spec": {"ports": [{"port": 80}]}}, "services/specs/default/x"),
        ("namespaces/default/endpoints/x", {}, "services/endpoints/default/x"),
        ("namespaces/default/configmaps/x", {}, "configmaps/default/x"),
        ("nodes/x", {}, "minions/x"),
    ],
)
async def test_another_object_of_the_name_is_told_by_its_place_in_etcd(api: Api, path: str, obj: Json, place: str) -> None:
    collection = path.rpartition("/")[0]
    await api(f"POST /api/v1/{collection}", {"metadata": {"name": "x"}, **obj})
    refused = await api(f"PUT /api/v1/{path}", {"metadata": {"name": "x", "uid": "u"}, **obj}, code=409)
    assert f"Code: 4, Key: /registry/{place}, ResourceVersion: 0" in refused["message"]
