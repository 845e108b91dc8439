"""What admission adds to pods and refuses, through the whole pipeline and step by step."""

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, pod

from setpoint.registry.admission.limit_ranger.bounds import claim_errors, pod_errors
from setpoint.registry.admission.limit_ranger.defaults import ANNOTATION, set_defaults

PODS = "/api/v1/namespaces/default/pods"


async def test_a_pod_gets_an_account_a_token_tolerations_and_a_priority(api: Api) -> None:
    spec = (await api(f"POST {PODS}", pod()))["spec"]
    assert (spec["serviceAccountName"], spec["priority"], spec["preemptionPolicy"]) == ("default", 0, "PreemptLowerPriority")
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert mount == {"name": volume["name"], "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    assert [(one["key"], one["tolerationSeconds"]) for one in spec["tolerations"]] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]


async def test_a_pod_that_wants_no_token_gets_none(api: Api) -> None:
    spec = (await api(f"POST {PODS}", pod({"automountServiceAccountToken": False})))["spec"]
    assert "volumes" not in spec


async def test_an_unknown_account(api: Api) -> None:
    refused = await api(f"POST {PODS}", pod({"serviceAccountName": "nobody"}), code=403)
    assert refused["message"] == (
        'pods "p" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found'
    )


async def test_priority_classes(api: Api) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    refused = await api(f"POST {PODS}", pod({"priorityClassName": "high"}), code=403)
    assert refused["message"] == 'pods "p" is forbidden: no PriorityClass with name high was found'
    await api(f"POST {classes}", {"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"})
    spec = (await api(f"POST {PODS}", pod({"priorityClassName": "high"})))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")


async def test_a_global_default_priority(api: Api) -> None:
    low = {"metadata": {"name": "low"}, "value": -5, "globalDefault": True}
    await api("POST /apis/scheduling.k8s.io/v1/priorityclasses", low)
    spec = (await api(f"POST {PODS}", pod()))["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("low", -5)


async def test_namespaces_must_exist_and_not_be_leaving(api: Api) -> None:
    missing = await api("POST /api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "a"}}, code=404)
    assert missing["message"] == 'namespaces "nowhere" not found'
    await api("POST /api/v1/namespaces", {"metadata": {"name": "going"}})
    await api("DELETE /api/v1/namespaces/going")
    refused = await api("POST /api/v1/namespaces/going/configmaps", {"metadata": {"name": "a"}}, code=403)
    assert [cause["reason"] for cause in refused["details"]["causes"]] == ["NamespaceTerminating"]


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_stay(api: Api, name: str) -> None:
    refused = await api(f"DELETE /api/v1/namespaces/{name}", code=403)
    assert refused["message"] == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


async def test_a_new_node_is_not_ready(api: Api) -> None:
    node = await api("POST /api/v1/nodes", {"metadata": {"name": "n"}})
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


async def test_claims_are_protected(api: Api) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = await api("POST /api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


LIMITS: list[Json] = [
    {
        "type": "Container",
        "default": {"cpu": "300m"},
        "defaultRequest": {"cpu": "100m"},
        "max": {"cpu": "1"},
        "min": {"cpu": "50m"},
    }
]


def test_limit_ranges_fill_in() -> None:
    obj: dict[str, Any] = pod()
    set_defaults(obj, LIMITS)
    assert obj["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "100m"}, "limits": {"cpu": "300m"}}
    told = "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    assert obj["metadata"]["annotations"] == {ANNOTATION: told}


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}, []),
        (
            {},
            [
                "minimum cpu usage per Container is 50m.  No request is specified",
                "maximum cpu usage per Container is 1.  No limit is specified",
            ],
        ),
        (
            {"requests": {"cpu": "10m"}, "limits": {"cpu": "2"}},
            [
                "minimum cpu usage per Container is 50m, but request is 10m",
                "maximum cpu usage per Container is 1, but limit is 2",
            ],
        ),
    ],
)
def test_limit_ranges_bound_containers(resources: Json, wanted: list[str]) -> None:
    assert pod_errors(pod(resources=resources)["spec"], LIMITS) == wanted


def test_limit_ranges_bound_pods_and_ratios() -> None:
    spec = pod(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "3"}})["spec"]
    assert pod_errors(spec, [{"type": "Pod", "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "2"}}]) == [
        "maximum cpu usage per Pod is 2, but limit is 3",
        "cpu max limit to request ratio per Pod is 2, but provided ratio is 3.000000",
    ]


def test_limit_ranges_bound_claims() -> None:
    limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]
    assert claim_errors({"resources": {"requests": {"storage": "2Gi"}}}, limits) == [
        "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
    ]


async def test_limit_ranges_are_kept(api: Api) -> None:
    await api("POST /api/v1/namespaces/default/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": LIMITS}})
    made = await api(f"POST {PODS}", pod())
    assert made["status"]["qosClass"] == "Burstable"
    refused = await api(f"POST {PODS}", pod(resources={"limits": {"cpu": "2"}}), code=403)
    assert refused["message"] == 'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'


def storage_class(name: str, *, default: bool = True) -> Json:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {"metadata": {"name": name, "annotations": annotations}, "provisioner": "none.example/x", "allowVolumeExpansion": True}


CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
CLAIM: Json = {
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


async def test_the_default_storage_class(api: Api) -> None:
    await api(f"POST {CLASSES}", storage_class("a"))
    await api(f"POST {CLASSES}", storage_class("b"))
    await api(f"POST {CLASSES}", storage_class("0", default=False))
    assert (await api(f"POST {CLAIMS}?dryRun=All", CLAIM))["spec"]["storageClassName"] == "a"
    await api.clock.advance(60)
    await api(f"POST {CLASSES}", storage_class("z"))
    assert (await api(f"POST {CLAIMS}?dryRun=All", CLAIM))["spec"]["storageClassName"] == "z"
    none = CLAIM | {"spec": CLAIM["spec"] | {"storageClassName": ""}}
    assert (await api(f"POST {CLAIMS}?dryRun=All", none))["spec"]["storageClassName"] == ""


async def test_only_bound_claims_of_growing_classes_grow(api: Api) -> None:
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    await api(f"POST {CLASSES}", storage_class("a"))
    await api(f"POST {CLAIMS}", CLAIM | {"spec": CLAIM["spec"] | {"volumeName": "v"}})
    await api.merge(f"{CLAIMS}/c/status", {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}})
    await api.merge(f"{CLASSES}/a", {"allowVolumeExpansion": False})
    refused = await api.merge(f"{CLAIMS}/c", more, code=403)
    assert refused["message"].startswith('persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc')
    await api.merge(f"{CLASSES}/a", {"allowVolumeExpansion": True})
    assert (await api.merge(f"{CLAIMS}/c", more))["spec"]["resources"]["requests"]["storage"] == "2Gi"
