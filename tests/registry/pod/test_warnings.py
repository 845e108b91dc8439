"""Warnings about pods, templates and Services; annotations that became fields."""

from __future__ import annotations

import pytest
from tests.registry.builders import Json, complaints, created

from setpoint.registry.address_warnings import cidr_warnings, ip_warnings
from setpoint.registry.pod.app_armor import fields_from_annotations
from setpoint.registry.pod.strategy import PodStrategy
from setpoint.registry.pod.warnings import pod_warnings, template_warnings
from setpoint.registry.service.warnings import service_warnings

FUTURE = "will be considered invalid in a future Kubernetes release: use"
NULL = "a null labelSelector results in matching no pod"


def pod(*containers: Json, annotations: Json | None = None, **spec: object) -> Json:
    given = [{"name": "c", "image": "i", **container} for container in containers or ({},)]
    return {"kind": "Pod", "metadata": {"name": "p", "annotations": annotations or {}}, "spec": {"containers": given, **spec}}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("10.1.2.3", []),
        ("10.01.2.3", [f'f: non-standard IP address "10.01.2.3" {FUTURE} "10.1.2.3"']),
        ("::ffff:1.2.3.4", [f'f: non-standard IP address "::ffff:1.2.3.4" {FUTURE} "1.2.3.4"']),
        ("2001:db8:0:0::2", ['f: IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format ("2001:db8::2")']),
        ("nonsense", []),
    ],
)
def test_addresses(value: str, wanted: list[str]) -> None:
    assert ip_warnings("f", value) == wanted


def test_networks() -> None:
    ambiguous = 'f: CIDR value "10.0.0.8/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.8/32"?)'
    assert cidr_warnings("f", "10.0.0.8/24") == [ambiguous]
    assert cidr_warnings("f", "10.0.00.0/24") == [f'f: non-standard CIDR value "10.0.00.0/24" {FUTURE} "10.0.0.0/24"']
    assert cidr_warnings("f", "10.0.0.0/24") == []


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (
            pod({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}, {"name": "A", "value": "3"}]}),
            ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        (
            pod({"ports": [{"containerPort": 80}, {"containerPort": 80, "hostPort": 8080}]}),
            ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
        ),
        (
            pod({"ports": [{"containerPort": 1, "name": "a"}]}, {"name": "d", "ports": [{"containerPort": 2, "name": "a"}]}),
            [
                (
                    'spec.containers[1].ports[0]: duplicate port name "a" with spec.containers[0].ports[0], services and probes'
                    " that select ports by name will use spec.containers[0].ports[0]"
                )
            ],
        ),
        (
            pod({"ports": [{"containerPort": 80, "protocol": "TCP", "hostIP": "1.2.3.4"}]}),
            [
                (
                    "spec.containers[0].ports[0]: hostIP set without hostPort:"
                    " {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}"
                )
            ],
        ),
        (
            pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]}}),
            [f"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: {NULL}"],
        ),
        (
            pod(annotations={"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}),
            [
                (
                    "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+;"
                    ' use the "seccompProfile" field instead'
                )
            ],
        ),
    ],
)
def test_pods(obj: Json, wanted: list[str]) -> None:
    assert pod_warnings(obj) == wanted


def test_app_armor_annotations_become_fields_of_pods_and_stay_annotations_of_templates() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    obj = pod(annotations={key: "localhost/x"})
    why = f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'
    assert template_warnings("spec.template", obj) == [f"spec.template.{why}"]
    assert (fields_from_annotations(obj), pod_warnings(obj)) == ([why], [])
    profile = {"type": "Localhost", "localhostProfile": "x"}
    assert obj["spec"]["containers"][0]["securityContext"] == {"appArmorProfile": profile}


def test_seccomp_annotations_must_make_sense_and_agree_with_fields() -> None:
    key = "seccomp.security.alpha.kubernetes.io/pod"
    obj = pod(annotations={key: "odd"}, securityContext={"seccompProfile": {"type": "RuntimeDefault"}})
    assert complaints(PodStrategy(), obj) == [
        f'metadata.annotations.{key}: Invalid value: "odd": must be a valid seccomp profile',
        "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match",
    ]


def test_status_of_containers() -> None:
    from setpoint.registry.pod.strategy import PodStatusStrategy

    old = created(PodStrategy(), pod())
    new = {**old, "status": {**old["status"], "containerStatuses": [{"name": "c", "user": {"linux": {"uid": -1, "gid": 0}}}]}}
    assert complaints(PodStatusStrategy(), new, old) == [
        "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive"
    ]


def test_observed_generations_are_kept() -> None:
    from setpoint.registry.pod.strategy import keep_observed_generations

    old: Json = {"observedGeneration": 3, "conditions": [{"type": "Ready", "observedGeneration": 2}]}
    new: Json = {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}]}
    keep_observed_generations(new, old)
    ready = {"type": "Ready", "status": "True", "observedGeneration": 2}
    assert new == {"observedGeneration": 3, "conditions": [ready, {"type": "Other"}]}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (
            {"type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"], "sessionAffinity": "ClientIP"},
            ["spec.SessionAffinity is ignored for headless services"],
        ),
        (
            {"type": "NodePort", "externalName": "a", "sessionAffinity": "None"},
            ['spec.externalName is ignored when spec.type is not "ExternalName"'],
        ),
        (
            {"type": "ClusterIP", "trafficDistribution": "PreferClose"},
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
    ],
)
def test_services(spec: Json, wanted: list[str]) -> None:
    assert service_warnings({"metadata": {}, "spec": spec}) == wanted
