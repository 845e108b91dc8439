"""Volume sources of PersistentVolumes, where they differ from those of pods: secrets lie in a namespace that must be named.

Source: `pkg/apis/core/validation/validation.go` (ValidatePersistentVolumeSpec).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain
from setpoint.registry.pod.validation import remote_volumes as remote
from setpoint.registry.pod.validation import volume_sources as local
from setpoint.registry.pod.validation.paths import no_backsteps

Source = Mapping[str, Any]

_TOO_LONG = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")


def _local(path: str, source: Source) -> Errors:
    value = source.get("path", "")
    return no_backsteps(f"{path}.path", value) if value else [required(f"{path}.path")]


def _glusterfs(path: str, source: Source) -> Errors:
    errors = remote.glusterfs(path, source)
    namespace = source.get("endpointsNamespace")
    if namespace is None:
        return errors
    where, why = f"{path}.endpointsNamespace", "if the endpointnamespace is set, it must be a valid namespace name"
    return errors + (complain(where, namespace, names.dns_label(namespace)) if namespace else [invalid(where, namespace, why)])


def _iscsi(path: str, source: Source) -> Errors:
    """As in pods, in other words."""
    errors: Errors = []
    for error in remote.iscsi(path, source):
        wrong = error.detail == "must be valid format starting with iqn, eui, or naa"
        errors.append(invalid(error.field, error.value, "must be valid format") if wrong else error)
    secret, last = source.get("secretRef"), f"{path}.initiatorname"
    nameless = [required(f"{path}.secretRef.name")] if secret is not None and not secret.get("name") else []
    return [
        *(error for error in errors if error.field != last),
        *nameless,
        *(error for error in errors if error.field == last),
    ]


def _with_namespace(check: Callable[[str, Source], Errors]) -> Callable[[str, Source], Errors]:
    def checked(path: str, source: Source) -> Errors:
        errors, secret = check(path, source), source.get("secretRef")
        if secret is not None and not secret.get("namespace"):
            errors.append(required(f"{path}.secretRef.namespace"))
        return errors

    return checked


def _azure_file(path: str, source: Source) -> Errors:
    errors = remote.azure_file(path, source)
    return [*errors, required(f"{path}.secretNamespace")] if source.get("secretNamespace") == "" else errors


def _csi(path: str, source: Source) -> Errors:
    errors = remote.csi_driver_name(f"{path}.driver", source.get("driver", ""))
    if not source.get("volumeHandle"):
        errors.append(required(f"{path}.volumeHandle"))
    for field in _SECRETS:
        if source.get(field) is not None:
            errors += _secret(f"{path}.{field}", source[field])
    return errors


def _secret(path: str, reference: Source) -> Errors:
    name, namespace = reference.get("name", ""), reference.get("namespace", "")
    errors = dns_subdomain(f"{path}.name", name) if name else [required(f"{path}.name")]
    return errors + (dns_label(f"{path}.namespace", namespace) if namespace else [required(f"{path}.namespace")])


_SOURCES: dict[str, Callable[[str, Source], Errors]] = {
    "hostPath": local.host_path,
    "gcePersistentDisk": remote.gce_disk,
    "awsElasticBlockStore": remote.aws_disk,
    "glusterfs": _glusterfs,
    "flocker": remote.flocker,
    "nfs": remote.nfs,
    "rbd": remote.rbd,
    "quobyte": remote.quobyte,
    "cephfs": remote.cephfs,
    "iscsi": _iscsi,
    "cinder": _with_namespace(remote.cinder),
    "fc": remote.fibre_channel,
    "flexVolume": remote.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": remote.vsphere,
    "photonPersistentDisk": remote.photon,
    "portworxVolume": remote.portworx,
    "azureDisk": remote.azure_disk,
    "scaleIO": remote.scale_io,
    "local": _local,
    "storageos": _with_namespace(remote.storage_os),
    "csi": _csi,
}
#: Kubernetes' own names in its complaints: of a source itself, and of a source too many
_SHOWN = {"gcePersistentDisk": "persistentDisk"}
_SHOWN_TOO_MANY = {"cephfs": "cephFS"}


def validate_source(spec: Source, name: str, path: str = "spec") -> Errors:
    """Exactly one source; `name` is the volume's, `path` leads to its spec."""
    errors: Errors = []
    given = [field for field in _SOURCES if spec.get(field) is not None]
    for i, field in enumerate(given):
        if i and field != "flexVolume":
            errors.append(forbidden(f"{path}.{_SHOWN_TOO_MANY.get(field, field)}", "may not specify more than 1 volume type"))
            continue
        if field == "iscsi":
            errors += _name_length(f"{path}.iscsi", spec[field], name)
        errors += _SOURCES[field](f"{path}.{_SHOWN.get(field, field)}", spec[field])
        if field == "local" and spec.get("nodeAffinity") is None:
            errors.append(required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    return errors if given else [*errors, required(path, "must specify a volume type")]


def _name_length(path: str, source: Source, name: str) -> Errors:
    portal = source.get("targetPortal", "")
    if source.get("initiatorName") is None or len(f"{name}:{portal}") <= 64:
        return []
    return [invalid(f"{path}.targetportal", portal, _TOO_LONG)]
