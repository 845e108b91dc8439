"""What pods and volumes refer to. Source: `pkg/api/v1/pod/util.go`, `pkg/api/v1/persistentvolume/util.go`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

_MIRROR = "kubernetes.io/config.mirror"
#: fields of a volume source → the field in them that names a Secret, as a text or as a reference
_SECRETS = (
    *((source, "secretRef") for source in ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")),
    ("csi", "nodePublishSecretRef"),
)
_POD_SECRETS = (("azureFile", "secretName"), ("secret", "secretName"), *_SECRETS)
#: the same of a persistent volume: those that the node's agent reads
_VOLUME_SECRETS = (*_SECRETS, ("csi", "nodeStageSecretRef"), ("csi", "nodeExpandSecretRef"))
_NOTHING: Mapping[str, Any] = {}


class References(Struct, frozen=True):
    """Names of what a pod needs, all in its own namespace."""

    accounts: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    configmaps: frozenset[str] = frozenset()
    claims: frozenset[str] = frozenset()
    resource_claims: frozenset[str] = frozenset()


def of_pod(pod: Mapping[str, Any]) -> References:
    """What the agent of a pod's node may read for it. A mirror pod is the node's own word and gives it nothing."""
    spec, metadata = pod.get("spec") or _NOTHING, pod["metadata"]
    if _MIRROR in (metadata.get("annotations") or _NOTHING):
        return References()
    account = spec.get("serviceAccountName")
    return References(
        frozenset((account,) if account else ()),
        frozenset(filter(None, secrets(spec))),
        frozenset(filter(None, configmaps(spec))),
        frozenset(filter(None, _claims(spec, metadata["name"]))),
        frozenset(filter(None, _resource_claims(spec, pod.get("status") or _NOTHING))),
    )


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(kind) or ()


def _environment(spec: Mapping[str, Any], whole: str, single: str) -> Iterator[str | None]:
    for container in _containers(spec):
        for source in container.get("envFrom") or ():
            yield (source.get(whole) or _NOTHING).get("name")
        for variable in container.get("env") or ():
            yield ((variable.get("valueFrom") or _NOTHING).get(single) or _NOTHING).get("name")


def _projected(spec: Mapping[str, Any], kind: str) -> Iterator[str | None]:
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or _NOTHING).get("sources") or ():
            yield (source.get(kind) or _NOTHING).get("name")


def secrets(spec: Mapping[str, Any]) -> Iterator[str | None]:
    """The Secrets that a pod names; None for a reference without a name."""
    yield from (reference.get("name") for reference in spec.get("imagePullSecrets") or ())
    yield from _environment(spec, "secretRef", "secretKeyRef")
    yield from _projected(spec, "secret")
    for volume in spec.get("volumes") or ():
        for source, name_field in _POD_SECRETS:
            found = (volume.get(source) or _NOTHING).get(name_field)
            yield found if isinstance(found, str) else (found or _NOTHING).get("name")


def configmaps(spec: Mapping[str, Any]) -> Iterator[str | None]:
    """The ConfigMaps that a pod names; None for a reference without a name."""
    yield from _environment(spec, "configMapRef", "configMapKeyRef")
    yield from _projected(spec, "configMap")
    yield from ((volume.get("configMap") or _NOTHING).get("name") for volume in spec.get("volumes") or ())


def _claims(spec: Mapping[str, Any], pod: str) -> Iterator[str | None]:
    for volume in spec.get("volumes") or ():
        yield (volume.get("persistentVolumeClaim") or _NOTHING).get("claimName")
        if volume.get("ephemeral") is not None:
            yield f"{pod}-{volume.get('name')}"


def _resource_claims(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[str | None]:
    """Named ones by the spec, made ones (and those for extended resources) by the status."""
    yield from (claim.get("resourceClaimName") for claim in spec.get("resourceClaims") or ())
    yield from (claim.get("resourceClaimName") for claim in status.get("resourceClaimStatuses") or ())
    yield (status.get("extendedResourceClaimStatus") or _NOTHING).get("resourceClaimName")


def volume_secrets(volume: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Namespace and name of each Secret of a persistent volume that nodes read; without one it lies beside the claim."""
    spec = volume.get("spec") or _NOTHING
    beside = (spec.get("claimRef") or _NOTHING).get("namespace") or ""
    found = set()
    for source, name_field in _VOLUME_SECRETS:
        reference = (spec.get(source) or _NOTHING).get(name_field) or _NOTHING
        if reference.get("name"):
            found.add((reference.get("namespace") or beside, reference["name"]))
    azure = spec.get("azureFile") or _NOTHING
    if azure.get("secretName"):
        found.add((azure.get("secretNamespace") or beside, azure["secretName"]))
    return frozenset(found)
