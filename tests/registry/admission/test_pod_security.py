"""The Pod Security Standards, and the plugin that applies them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, pod

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.registry.admission.pod_security.checks import findings
from setpoint.registry.admission.pod_security.configuration import Exemptions, Settings, read
from setpoint.registry.admission.pod_security.levels import LATEST, Level, policy_of
from setpoint.registry.admission.pod_security.step import PodSecurity
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Context
from setpoint.registry.table import RESOURCES

PODS = "/api/v1/namespaces/default/pods"
_PREFIX = "pod-security.kubernetes.io/"
_GOOD: Json = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "c",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
            },
        }
    ],
}


def told(level: str, spec: Json, minor: int = LATEST, annotations: dict[str, str] | None = None) -> str:
    return ", ".join(map(str, findings(Level(level, minor), {"annotations": annotations or {}}, spec)))


def container(name: str = "c", **security: Any) -> Json:
    return {"name": name, "securityContext": security}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"hostNetwork": True, "hostPID": True, "containers": [container(privileged=True)]},
            (
                'host namespaces (hostNetwork=true, hostPID=true), privileged (container "c" must not set'
                " securityContext.privileged=true)"
            ),
        ),
        (
            {
                "securityContext": {"seLinuxOptions": {"user": "x", "type": "y"}},
                "containers": [container(seLinuxOptions={"role": "z"})],
            },
            (
                'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "y"; user may not be'
                " set; role may not be set)"
            ),
        ),
        (
            {
                "containers": [
                    {"name": "c", "ports": [{"hostPort": 80}, {"hostPort": 443}]},
                    {"name": "d", "ports": [{"hostPort": 80}]},
                ]
            },
            'hostPort (containers "c", "d" use hostPorts 443, 80)',
        ),
        (
            {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "10.0.0.1"}}}]},
            'probe or lifecycle host (container "c" uses probe or lifecycle host "10.0.0.1")',
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}]}},
            "forbidden sysctls (kernel.msgmax)",
        ),
        (
            {"containers": [container(appArmorProfile={"type": "Unconfined"}, procMount="Unmasked")]},
            (
                'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined"), procMount'
                ' (container "c" must not set securityContext.procMount to "Unmasked")'
            ),
        ),
        (
            {"volumes": [{"name": "h", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}]},
            'hostPath volumes (volume "h")',
        ),
        (
            {"initContainers": [container("i", capabilities={"add": ["SYS_ADMIN", "CHOWN"]})]},
            'non-default capabilities (container "i" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
        ),
        (_GOOD, ""),
    ],
)
def test_baseline(spec: Json, expected: str) -> None:
    assert told("baseline", spec) == expected
    assert told("privileged", spec) == ""


def test_restricted() -> None:
    assert told("restricted", _GOOD) == ""
    assert told("restricted", {"hostUsers": True, "containers": [{"name": "c"}]}) == (
        'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted'
        ' capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or'
        ' container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set'
        ' securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
    )
    volumes = [{"name": "n", "nfs": {}}, {"name": "h", "hostPath": {}}, {"name": "s", "secret": {}}, {"name": "i", "image": {}}]
    assert told("restricted", {**_GOOD, "volumes": volumes}) == (
        'restricted volume types (volumes "n", "h" use restricted volume types "hostPath", "nfs")'
    )
    root = {**_GOOD["securityContext"], "runAsNonRoot": False, "runAsUser": 0}
    assert told("restricted", {**_GOOD, "securityContext": root}) == (
        "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0)"
    )


def test_versions() -> None:
    root = {**_GOOD, "hostUsers": False, "securityContext": {**_GOOD["securityContext"], "runAsUser": 0}}
    assert told("restricted", root, 22) == ""
    assert told("restricted", root, 34) == "runAsUser=0 (pod must not set runAsUser=0)"
    assert told("restricted", root) == ""
    windows = {"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}, "containers": [{"name": "c"}]}
    assert told("restricted", windows) == ""
    assert told("restricted", windows, 24).startswith("allowPrivilegeEscalation != false")
    host = {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "x"}}}]}
    assert told("baseline", host, 33) == ""
    old = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
    assert told("baseline", {}, 18, old).startswith("seccompProfile (forbidden annotation ")
    assert told("baseline", {}, 19, old) == ""


def test_labels() -> None:
    policy, errors = policy_of({f"{_PREFIX}enforce": "baseline", f"{_PREFIX}enforce-version": "v1.30"})
    assert (str(policy.enforce), str(policy.warn), str(policy.audit)) == ("baseline:v1.30", "baseline:v1.30", "privileged:latest")
    assert not errors
    policy, errors = policy_of({f"{_PREFIX}enforce": "strict", f"{_PREFIX}warn-version": "1.20", f"{_PREFIX}audit": "x"})
    assert (policy.enforce.name, policy.audit.name) == ("restricted", "privileged")
    assert [error.detail for error in errors] == [
        "must be one of privileged, baseline, restricted",
        "must be one of privileged, baseline, restricted",
        'must be "latest" or "v1.x"',
    ]


async def label(api: Api, code: int = 0, **labels: str) -> Any:
    given = {f"{_PREFIX}{mode.replace('_', '-')}": level for mode, level in labels.items()}
    body = {"metadata": {"labels": given}}
    return await api.merge("/api/v1/namespaces/default", body, code=code)


async def test_pods_are_refused_and_namespaces_told(api: Api) -> None:
    await api(f"POST {PODS}", pod({"hostPID": True}))
    await label(api, enforce="baseline")
    refused = await api(f"POST {PODS}", {**pod({"hostIPC": True}), "metadata": {"name": "q"}}, code=403)
    assert refused["message"] == 'pods "q" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostIPC=true)'
    await api.merge(f"{PODS}/p", {"metadata": {"labels": {"x": "y"}}})
    refused = await label(api, 422, enforce="nonsense")
    assert refused["details"]["causes"][0]["field"] == f"metadata.labels[{_PREFIX}enforce]"


def test_a_configuration() -> None:
    document = {
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
        "exemptions": {"usernames": ["a"], "namespaces": ["kube-system"], "runtimeClasses": ["kata"]},
    }
    settings = read(document)
    assert (str(settings.defaults.enforce), str(settings.defaults.warn)) == ("baseline:v1.30", "restricted:latest")
    assert settings.exempt.namespaces == {"kube-system"}
    for defaults, exemptions, why in (
        ({"enforce": "strict"}, {}, 'defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted'),
        ({"warn-version": "1.20"}, {}, 'defaults.warn-version: Invalid value: "1.20": must be "latest" or "v1.x"'),
        ({}, {"namespaces": ["a", "a"]}, 'exemptions.namespaces[1]: Duplicate value: "a"'),
    ):
        with pytest.raises(ValueError, match=re.escape(why)):
            read({**document, "defaults": defaults, "exemptions": exemptions})


async def test_exemptions() -> None:
    namespace = {"metadata": {"name": "default", "labels": {f"{_PREFIX}enforce": "baseline"}}}
    exempt = Exemptions(frozenset(("boss",)), frozenset(("spared",)), frozenset(("kata",)))
    step = PodSecurity(_Reader(namespace), Settings(exempt=exempt))
    bad: Json = {"metadata": {"name": "p"}, "spec": {"hostPID": True}}
    for user, where, spec in (("boss", "default", {}), ("dev", "spared", {}), ("dev", "default", {"runtimeClassName": "kata"})):
        request = _request(user, where, {**bad, "spec": {**bad["spec"], **spec}})
        await step.validate(request)
        assert list(request.context.annotations) == [f"{_PREFIX}exempt"]
    with pytest.raises(StatusError, match="violates PodSecurity"):
        await step.validate(_request("dev", "default", bad))


class _Reader:
    """Knows one namespace."""

    def __init__(self, namespace: Json) -> None:
        self._namespace = namespace

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self._namespace

    async def list(self, group_resource: str, namespace: str = "") -> Sequence[Mapping[str, Any]]:
        return []


def _request(user: str, namespace: str, obj: Json) -> AdmissionRequest:
    resource = next(each for each in RESOURCES if each.plural == "pods" and not each.group)
    context = Context(UserInfo(user), now=0.0)
    return AdmissionRequest("CREATE", resource, "v1", context, namespace, "p", obj=obj)
