"""Every pod runs as a service account, and finds its token where clients look for it.

Source: `plugin/pkg/admission/serviceaccount`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from setpoint.kit.clock import Clock
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.pod.validation.annotations import MIRROR
from setpoint.registry.strategy import Object

_DEFAULT = "default"
_TRIES = 10
_PAUSE = 0.15  # seconds
_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME_PREFIX = "kube-api-access-"
#: an odd number, by which Kubernetes tells these tokens from those that users ask for
_TOKEN_SECONDS = 3607
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class ServiceAccount(BaseStep):
    """Sets the account, mounts its token, adds its pull secrets."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._clock = clock
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == "pods" and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        pod = request.obj or {}
        spec = pod.get("spec") or {}
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            _check_mirror(request, spec)
            return
        name = spec.get("serviceAccountName") or _DEFAULT
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = await self._account(request.namespace, name)
        if account is None:
            why = f'error looking up service account {request.namespace}/{name}: serviceaccount "{name}" not found'
            raise refuse(request, why)
        if _automounts(account, spec):
            _mount_token(spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [dict(secret) for secret in account["imagePullSecrets"]]

    async def _account(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        """The account; the default one is waited for a moment, since its controller makes it just after the namespace."""
        account = await self._reader.get("serviceaccounts", namespace, name)
        for _ in range(_TRIES if name == _DEFAULT and account is None else 0):
            await self._clock.sleep(_PAUSE)
            account = await self._reader.get("serviceaccounts", namespace, name)
            if account is not None:
                break
        return account


def _check_mirror(request: AdmissionRequest, spec: Object) -> None:
    """A node's static pod stands for itself: it may not lean on the cluster's objects."""
    if spec.get("serviceAccountName"):
        raise refuse(request, "a mirror pod may not reference service accounts")
    for volume in spec.get("volumes") or ():
        for field, what in (("secret", "secrets"), ("configMap", "configmaps")):
            if volume.get(field) is not None:
                raise refuse(request, f"a mirror pod may not reference {what}")
        if volume.get("persistentVolumeClaim") is not None:
            raise refuse(request, "a mirror pod may not reference persistentvolumeclaims")


def _automounts(account: Mapping[str, Any], spec: Object) -> bool:
    for holder in (spec, account):
        choice = holder.get("automountServiceAccountToken")
        if choice is not None:
            return bool(choice)
    return True


def _mount_token(spec: Object) -> None:
    volumes = spec.get("volumes") or []
    existing = next((volume["name"] for volume in volumes if volume.get("name", "").startswith(_VOLUME_PREFIX)), "")
    name = existing or _VOLUME_PREFIX + "".join(secrets.choice(_LETTERS) for _ in range(5))
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
