"""Every pod runs as a service account, and finds its token where clients look for it.

Source: `plugin/pkg/admission/serviceaccount`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.kit.clock import Clock
from setpoint.registry import generated
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.mountable_secrets import Check, ephemeral_references, pod_references
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.pod import references
from setpoint.registry.pod.validation.annotations import MIRROR
from setpoint.registry.strategy import Object

_DEFAULT = "default"
_TRIES = 10
_PAUSE = 0.15  # seconds
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME_PREFIX = "kube-api-access-"
#: an odd number, by which Kubernetes tells these tokens from those that users ask for
_TOKEN_SECONDS = 3607
ENFORCED = "kubernetes.io/enforce-mountable-secrets"
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))  # what Go reads as true


class ServiceAccount(BaseStep):
    """Sets the account, mounts its token, adds its pull secrets; sees that pods of strict accounts name no other secrets."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._clock = clock
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and (operation, subresource) in {("CREATE", ""), ("UPDATE", "ephemeralcontainers")}

    async def admit(self, request: AdmissionRequest) -> None:
        if request.operation != "CREATE":
            return
        spec = (request.obj or {}).get("spec") or {}
        if _is_mirror(request.obj or {}):
            _check_mirror(request, spec)
            return
        name = spec.get("serviceAccountName") or _DEFAULT
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = await self._account(request, name)
        if _automounts(account, spec):
            _mount_token(spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [dict(secret) for secret in account["imagePullSecrets"]]
        _check_secrets(request, account, pod_references)

    async def validate(self, request: AdmissionRequest) -> None:
        """What others have made of the pod must hold, too."""
        pod = request.obj or {}
        spec = pod.get("spec") or {}
        if request.operation == "CREATE" and _is_mirror(pod):
            _check_mirror(request, spec)
            return
        name = spec.get("serviceAccountName")
        if not name:
            own = pod["metadata"].get("name", "")
            raise refuse(request, f"no service account specified for pod {request.namespace}/{own}")
        account = await self._account(request, name)
        _check_secrets(request, account, pod_references if request.operation == "CREATE" else ephemeral_references)

    async def _account(self, request: AdmissionRequest, name: str) -> Mapping[str, Any]:
        """The account; the default one is waited for a moment, since its controller makes it just after the namespace."""
        namespace = request.namespace
        account = await self._reader.get("serviceaccounts", namespace, name)
        for _ in range(_TRIES if name == _DEFAULT and account is None else 0):
            await self._clock.sleep(_PAUSE)
            account = await self._reader.get("serviceaccounts", namespace, name)
            if account is not None:
                break
        if account is None:
            why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
            raise refuse(request, why)
        return account


def _is_mirror(pod: Object) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})


def _check_mirror(request: AdmissionRequest, spec: Object) -> None:
    """A node's static pod stands for itself: it may not lean on the cluster's objects."""
    if spec.get("serviceAccountName"):
        raise refuse(request, "a mirror pod may not reference service accounts")
    if any(name is not None for name in references.secrets(spec)):
        raise refuse(request, "a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("serviceAccountToken") is not None:
                raise refuse(request, "a mirror pod may not use ServiceAccountToken volume projections")


def _check_secrets(request: AdmissionRequest, account: Mapping[str, Any], check: Check) -> None:
    """An account may bind its pods to the secrets that it lists itself."""
    annotations = account["metadata"].get("annotations") or {}
    if annotations.get(ENFORCED) in _TRUE and (why := check((request.obj or {}).get("spec") or {}, account)):
        raise refuse(request, why)


def _automounts(account: Mapping[str, Any], spec: Object) -> bool:
    for holder in (spec, account):
        choice = holder.get("automountServiceAccountToken")
        if choice is not None:
            return bool(choice)
    return True


def _mount_token(spec: Object) -> None:
    volumes = spec.get("volumes") or []
    existing = next((volume["name"] for volume in volumes if volume.get("name", "").startswith(_VOLUME_PREFIX)), "")
    name = existing or _VOLUME_PREFIX + generated.suffix()
    needed = False
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            mounts = container.get("volumeMounts") or []
            if all(mount.get("mountPath") != _MOUNT_PATH for mount in mounts):
                needed = True
                container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": _MOUNT_PATH}]
    if needed and not existing:
        spec["volumes"] = [*volumes, _token_volume(name)]


def _token_volume(name: str) -> Object:
    """Token, certificate and namespace, as clients in pods expect them."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}
