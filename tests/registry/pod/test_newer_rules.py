"""Rules that came to pods with newer releases: resizing, user namespaces, files of variables, overlapping files."""

from __future__ import annotations

from copy import deepcopy

import pytest
from tests.registry.builders import Json, complaints, created, pod

from setpoint.registry.pod.path_warnings import path_warnings
from setpoint.registry.pod.strategy import PodEphemeralContainersStrategy, PodResizeStrategy, PodStatusStrategy, PodStrategy

STRATEGY = PodStrategy()
TWO = {"cpu": "2", "memory": "2Gi"}


def gated(**spec: object) -> Json:
    return pod({"schedulingGates": [{"name": "a.example/b"}], **spec})


def required_terms(*keys: str) -> Json:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in keys]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def said(spec: Json | None = None, /, **container: object) -> list[str]:
    return complaints(STRATEGY, pod(spec, **container))


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"hostUsers": False, "hostPID": True}, ["spec.HostPID: Forbidden: when `hostUsers` is false"]),
        (
            {"securityContext": {"seLinuxChangePolicy": "MountOption"}},
            ['spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"'],
        ),
        (
            {
                "hostIPC": True,
                "securityContext": {"sysctls": [{"name": "kernel.sem"}, {"name": "kernel.semi"}, {"name": "kernel.shm_x"}]},
            },
            [
                f"spec.securityContext.sysctls[{i}].name: Invalid value: \"{name}\": may not be specified when 'hostIPC' is true"
                for i, name in ((0, "kernel.sem"), (2, "kernel.shm_x"))
            ],
        ),
        (
            {"dnsConfig": {"nameservers": ["1.2.3.04"]}, "hostAliases": [{"ip": "::ffff:1.2.3.4"}]},
            [
                'spec.dnsConfig.nameservers[0]: Invalid value: "1.2.3.04": must not have leading 0s',
                'spec.hostAliases[0].ip: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
            ],
        ),
        (
            {"os": {"name": "windows"}, "hostUsers": False, "shareProcessNamespace": False, "hostPID": False},
            [
                "spec.hostUsers: Forbidden: cannot be set for a windows pod",
                "spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod",
            ],
        ),
        (
            {"os": {"name": "windows"}, "resources": {"requests": {"cpu": "1"}}},
            ["spec.resources: Forbidden: may not be set for a windows pod"],
        ),
        (
            {"tolerations": [{"key": "k", "operator": "Gt", "value": "1"}]},
            ['spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'],
        ),
        (
            {"volumes": [{"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": ".."}]}}]},
            [
                "spec.volumes[0].configMap.items[0].path: Invalid value: \"..\": must not contain '..'",
                "spec.volumes[0].configMap.items[0].path: Invalid value: \"..\": must not start with '..'",
            ],
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}, "configMap": {"name": "c"}}]}}]},
            ["spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
        ),
        (
            {"volumes": [{"name": "v", "flexVolume": {"driver": "a/b", "options": {"x.k8s.io/y": "1", "kubernetes.io": "2"}}}]},
            [
                (
                    f"spec.volumes[0].flexVolume.options[{key}]: Invalid value: {shown}:"
                    " kubernetes.io and k8s.io namespaces are reserved"
                )
                for key, shown in (("kubernetes.io", '"kubernetes.io"'), ("x.k8s.io/y", '"x.k8s.io/y"'))
            ],
        ),
        (
            {"volumes": [{"name": "v", "image": {"pullPolicy": "A"}}]},
            [
                "spec.volumes[0].image.reference: Required value",
                'spec.volumes[0].image.pullPolicy: Unsupported value: "A": supported values: "Always", "IfNotPresent", "Never"',
            ],
        ),
        (
            {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d", "partition": 256}}]},
            ["spec.volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"],
        ),
        ({"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]}, []),
        ({"os": {}}, ["spec.os.name: Required value"]),
        (
            {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "é" * 2048}}},
            ["spec.securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"],
        ),
        (
            {"volumes": [{"name": "v", "iscsi": {"targetPortal": "p", "iqn": "eui.0123456789abcdef\n", "lun": 0}}]},
            ['spec.volumes[0].iscsi.iqn: Invalid value: "eui.0123456789abcdef\\n": must be valid format'],
        ),
        ({"hostnameOverride": "a" * 63 + ".b"}, ["spec.hostnameOverride: Too long: may not be more than 64 bytes"]),
    ],
)
def test_specs(spec: Json, wanted: list[str]) -> None:
    assert said(spec) == wanted


def test_block_devices_need_the_hosts_users() -> None:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    spec = {"hostUsers": False, "volumes": [volume]}
    assert said(spec, volumeDevices=[{"name": "v", "devicePath": "/d"}]) == [
        "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false"
    ]


def test_claim_templates_have_labels_and_annotations_only() -> None:
    metadata = {"uid": "u", "name": "n", "labels": {"a": "b"}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": metadata, "spec": claim}}}
    path = "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata"
    assert said({"volumes": [volume]}) == [f"{path}.{name}: Forbidden: cannot be set" for name in ("name", "uID")]


def test_files_of_variables_lie_in_an_empty_dir() -> None:
    def variable(volume: str) -> Json:
        return {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": volume, "path": "p", "key": "K"}}}

    spec = {"volumes": [{"name": "e", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "s"}}]}
    path = "spec.containers[0].env[{}].valueFrom.fileKeyRef.volumeName"
    assert said(spec, env=[variable("e"), variable("s"), variable("x")]) == [
        f'{path.format(1)}: Invalid value: "s": referenced volume must be of type emptyDir',
        f'{path.format(2)}: Not found: "x"',
    ]


@pytest.mark.parametrize(
    ("ref", "wanted"),
    [
        ({}, ["key: Required value", "volumeName: Required value", "path: Required value", 'volumeName: Not found: ""']),
        (
            {"key": "a=b", "volumeName": "A", "path": "../x"},
            [
                'key: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters',
                'volumeName: Invalid value: "A": a lowercase RFC 1123 label must consist of',
                "path: Invalid value: \"../x\": must not contain '..'",
                'volumeName: Not found: "A"',
            ],
        ),
        ({"key": "1 a", "volumeName": "e", "path": "..x/y"}, []),
        ({"key": "K", "volumeName": "e", "path": "/absolute"}, []),
    ],
)
def test_references_to_files_of_variables(ref: Json, wanted: list[str]) -> None:
    path = "spec.containers[0].env[0].valueFrom.fileKeyRef."
    texts = said({"volumes": [{"name": "e", "emptyDir": {}}]}, env=[{"name": "A", "valueFrom": {"fileKeyRef": ref}}])
    assert len(texts) == len(wanted)
    assert all(text.startswith(path + start) for text, start in zip(texts, wanted, strict=True))


def test_paths_within_image_volumes_may_be_made_of_variables() -> None:
    volume = {"name": "v", "image": {"reference": "i"}}
    assert said({"volumes": [volume]}, volumeMounts=[{"name": "v", "mountPath": "/m", "subPathExpr": "$(A)"}]) == []


def test_mirrors_of_static_pods_have_no_claims() -> None:
    obj = pod({"nodeName": "n", "resourceClaims": [{"name": "a"}, {"name": "a"}]})
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert complaints(STRATEGY, obj) == [": Forbidden: static pods do not support resource claims"] * 2


@pytest.mark.parametrize(("cost", "fits"), [("0", True), ("-0", True), ("-01", True), ("01", False), ("+1", False), ("-", False)])
def test_deletion_costs(cost: str, fits: bool) -> None:
    obj = pod()
    obj["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    assert (complaints(STRATEGY, obj) == []) is fits


def test_only_sidecars_restart_for_a_resize() -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    init = [{"name": name, "image": "i", "resizePolicy": policy} for name in ("plain", "sidecar")]
    init[1]["restartPolicy"] = "Always"
    (text,) = said({"initContainers": init})
    assert text == (
        'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer":'
        " must not be set to 'RestartContainer' for non-sidecar initContainers"
    )


def test_spread_keys_are_not_selected_twice() -> None:
    selector = {"matchLabels": {"app": "a"}}
    spread = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    obj = pod({"topologySpreadConstraints": [{**spread, "matchLabelKeys": ["app"]}]})
    obj["metadata"]["labels"] = {"app": "a"}
    assert complaints(STRATEGY, obj) == [
        'spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector'
    ]


def resized(change: Json, spec: Json | None = None, /, **container: object) -> list[str]:
    old = created(STRATEGY, pod(spec, **container))
    new = deepcopy(old)
    new["spec"] |= change
    return complaints(PodResizeStrategy(), new, old)


def test_a_pods_own_resources_are_resized() -> None:
    spec = {"resources": {"requests": TWO, "limits": TWO}}
    assert resized({"resources": {"requests": {**TWO, "cpu": "3"}, "limits": {**TWO, "cpu": "3"}}}, spec) == []
    assert "spec.resources: Forbidden: pod-level resources cannot be removed" in resized({"resources": None}, spec)


def test_a_resize_is_of_the_same_containers() -> None:
    other = [{"name": "d", "image": "i", "imagePullPolicy": "Always", "resources": {}}]
    (text,) = resized({"containers": [*pod()["spec"]["containers"], *other]})
    assert text == "spec.containers: Forbidden: containers may not be added or removed on resize"
    (text,) = resized({"containers": other})
    assert text == "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"


def test_init_containers_are_resized() -> None:
    def init(**amounts: str) -> Json:
        return {"initContainers": [{"name": "i", "image": "i", "resources": {"requests": amounts}}]}

    assert resized(init(cpu="2"), init(cpu="1")) == []
    assert resized(init(cpu="2", **{"ephemeral-storage": "1Gi"}), init(cpu="1")) == [
        "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"
    ]


def test_init_containers_that_have_run_are_not_restarted() -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    before = {"initContainers": [{"name": "i", "image": "i", "resources": {}}]}
    after = {"initContainers": [{"name": "i", "image": "i", "resources": {}, "resizePolicy": policy}]}
    assert resized(after, before)[1:] == [
        f"spec.initContainers[0]: Forbidden: {why}"
        for why in (
            "only cpu and memory resources for init or sidecar containers are mutable",
            "non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
        )
    ]


def status_said(status: Json, before: Json | None = None, /, **spec: object) -> list[str]:
    old = created(STRATEGY, pod(spec))
    old["status"] |= before or {}
    new = deepcopy(old)
    new["status"] |= status
    return complaints(PodStatusStrategy(), new, old)


def test_addresses_that_are_there_may_stay() -> None:
    old = {"hostIP": "::ffff:1.2.3.4", "hostIPs": [{"ip": "::ffff:1.2.3.4"}], "podIPs": [{"ip": "01.2.3.4"}]}
    assert status_said({"message": "m"}, old) == []
    assert status_said({"podIPs": [{"ip": "01.2.3.4"}, {"ip": "02::x"}]}, old)[0].startswith("status.podIPs[1]: Invalid value")
    assert status_said(old) == [
        'status.podIPs[0]: Invalid value: "01.2.3.4": must not have leading 0s',
        'status.hostIPs[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
    ]


def test_claims_in_status() -> None:
    claims = [{"name": "a", "resourceClaimName": "A"}]
    (text,) = status_said({"resourceClaimStatuses": claims}, resourceClaims=[{"name": "a", "resourceClaimName": "b"}])
    assert text.startswith('status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A": a lowercase RFC 1123')


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("", ["message: Required value: must be non-empty if specified"]),
        ("x" * 1024, []),
        ("é" * 513, ["message: Too long: may not be more than 1024 bytes"]),
        ("x" * 1025, ["message: Too long: may not be more than 1024 bytes"]),
    ],
)
def test_messages_on_the_health_of_devices(message: str, wanted: list[str]) -> None:
    health = {"name": "cpu", "resources": [{"resourceID": "d", "health": "Healthy", "message": message}]}
    path = "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0]"
    new = {"containerStatuses": [{"name": "other", "allocatedResourcesStatus": [health]}]}
    assert status_said(new) == [f"{path}.{text}" for text in wanted]


def test_a_bound_pod_is_not_nominated() -> None:
    old = created(STRATEGY, pod({"nodeName": "n"}))
    new = deepcopy(old)
    new["status"]["nominatedNodeName"] = "m"
    assert complaints(PodStatusStrategy(), new, old) == [
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
    ]


def test_overlapping_files() -> None:
    token = {"serviceAccountToken": {"path": "test/test2"}}
    files = {"downwardAPI": {"items": [{"path": "test"}, {"path": "test/"}]}}
    volume = {"name": "foo", "projected": {"sources": [token, files, {}, {"secret": {"name": "s"}}]}}
    config = {"name": "c", "configMap": {"name": "m", "items": [{"path": "a"}, {"path": "ab"}, {"path": "a/b"}]}}
    where = 'volume "foo" (Projected)'
    assert list(path_warnings([volume, config, {"name": "e", "emptyDir": {}}])) == [
        f"{where} has no sources provided",
        f'{where}: overlapping paths: "test" (DownwardAPI) with "test/test2" (ServiceAccountToken)',
        f'{where}: overlapping paths: "test" (DownwardAPI) with "test/test2" (ServiceAccountToken)',
        f'{where}: overlapping paths: "test" (DownwardAPI) with "test" (DownwardAPI)',
        'volume "c" (ConfigMap "m"): overlapping paths: "a/b" with "a"',
    ]


def test_tolerations_in_an_annotation_are_checked_there() -> None:
    def said(text: str) -> list[str]:
        one = pod()
        one["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/tolerations": text}
        return complaints(PodStrategy(), one)

    (broken,) = said("x")
    assert broken.startswith(
        'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": invalid character'
    )
    assert said('[{"operator":"Exists"}]') == []
    (wrong,) = said('[{"key":"a","operator":"Foo"}]')
    assert wrong.startswith("metadata.annotations.scheduler.alpha.kubernetes.io/tolerations[0].operator: Unsupported value")


RULES = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
EVERYTHING = [{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [42]}}]


@pytest.mark.parametrize(
    ("policy", "container", "code", "refused"),
    [
        ("Never", {}, 1, True),
        ("OnFailure", {}, 1, False),
        ("OnFailure", {}, 0, True),
        ("Always", {"restartPolicy": "Never"}, 1, True),
        ("Never", {"restartPolicy": "OnFailure"}, 1, False),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": RULES}, 42, False),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": RULES}, 1, True),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": EVERYTHING}, 42, False),
    ],
)
def test_what_has_ended_for_good_stays_ended(policy: str, container: Json, code: int, refused: bool) -> None:
    old = created(STRATEGY, pod({"restartPolicy": policy}, **container))
    old["status"]["containerStatuses"] = [{"name": "c", "state": {"terminated": {"exitCode": code}}}]
    new = deepcopy(old)
    new["status"]["containerStatuses"][0]["state"] = {"running": {}}
    wanted = ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
    assert complaints(PodStatusStrategy(), new, old) == (wanted if refused else [])


def test_without_a_policy_the_rules_of_an_init_container_are_not_looked_at() -> None:
    lack = "must specify restartPolicy when restart rules are used"
    wrong = {"restartPolicyRules": [{"action": "Explode", "exitCodes": {"operator": "In"}}]}
    assert said({"initContainers": [{"name": "i", "image": "i:1", **wrong}]}) == [
        f"spec.initContainers[0].restartPolicy: Required value: {lack}"
    ]
    assert [complaint.partition(":")[0] for complaint in said(**wrong)] == [
        "spec.containers[0].restartPolicy",
        "spec.containers[0].restartPolicyRules[0].action",
    ]


def test_a_claim_for_extended_resources_fits_the_containers() -> None:
    old = created(STRATEGY, pod())
    name = old["spec"]["containers"][0]["name"]

    def said(*mappings: Json, claim: str = "x") -> list[str]:
        new = deepcopy(old)
        new["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": claim, "requestMappings": list(mappings)}
        return [complaint.partition(": must")[0] for complaint in complaints(PodStatusStrategy(), new, old)]

    path = "status.extendedResourceClaimStatus"
    assert said(claim="") == [
        f"{path}.requestMappings: Required value: at least one request mapping is required",
        f"{path}.resourceClaimName: Required value",
    ]
    assert said({"containerName": "z", "resourceName": "a/b", "requestName": "r"}) == [
        f'{path}.requestMappings[0].containerName: Invalid value: "z"'
    ]
    assert said({"containerName": name, "resourceName": "a/b", "requestName": "r"}) == [
        f'{path}.requestMappings[0].resourceName: Invalid value: "a/b"'
    ]


def test_what_ephemeral_containers_cannot_have_they_cannot_have_empty() -> None:
    old = created(STRATEGY, pod())
    new = deepcopy(old)
    new["spec"]["ephemeralContainers"] = [{"name": "e", "image": "i", "lifecycle": {}, "resources": {}}]
    (complaint,) = complaints(PodEphemeralContainersStrategy(), new, old)
    assert complaint == "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container"


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"nodeSelector": {"a": "b"}}, {}, "nodeSelector: Invalid value: null: "),
        ({"affinity": required_terms("a")}, {}, "nodeSelectorTerms: Invalid value: null: "),
        ({"affinity": required_terms("a")}, {"affinity": required_terms("a", "b")}, '[{"MatchExpressions":[{"Key":"a",'),
    ],
)
def test_what_gated_pods_may_not_lose(before: Json, after: Json, shown: str) -> None:
    [complaint] = complaints(STRATEGY, gated(**after), created(STRATEGY, gated(**before)))
    assert shown in complaint
