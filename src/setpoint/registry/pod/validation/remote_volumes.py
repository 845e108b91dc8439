"""Volume sources on other machines: network file systems, block devices, CSI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import invalid, not_supported, required, too_long
from setpoint.registry.fields import Errors, complain

Source = Mapping[str, Any]

#: the text is not what is checked, in Kubernetes too
_PARTITION = names.inclusive_range(1, 255)
_HOST_PORT = re.compile(r"(?:[^:\[\]]*|\[[^\[\]]*\]):[^:\[\]]*")
_INITIATORS = {
    "iqn": re.compile(r"(?a)iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)\Z"),
    "eui": re.compile(r"^eui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"^naa.[A-Za-z0-9]{32}\Z"),
}


def _needs(path: str, source: Source, *fields: str) -> Errors:
    return [required(f"{path}.{field}") for field in fields if not source.get(field)]


def _disk(path: str, source: Source, name: str) -> Errors:
    errors = _needs(path, source, name)
    partition = source.get("partition", 0)
    if not 0 <= partition <= 255:
        errors.append(invalid(f"{path}.partition", partition, _PARTITION))
    return errors


def gce_disk(path: str, source: Source) -> Errors:
    return _disk(path, source, "pdName")


def aws_disk(path: str, source: Source) -> Errors:
    return _disk(path, source, "volumeID")


def nfs(path: str, source: Source) -> Errors:
    errors = _needs(path, source, "server", "path")
    value = source.get("path", "")
    if not value.startswith("/"):
        errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
    return errors


def _initiator(path: str, value: str) -> Errors:
    pattern = _INITIATORS.get(value[:3])
    if pattern is None:
        return [invalid(path, value, "must be valid format starting with iqn, eui, or naa")]
    return [] if pattern.search(value) else [invalid(path, value, "must be valid format")]


def iscsi(path: str, source: Source) -> Errors:
    errors = _needs(path, source, "targetPortal")
    name = source.get("iqn", "")
    errors += _initiator(f"{path}.iqn", name) if name else [required(f"{path}.iqn")]
    lun = source.get("lun", 0)
    if not 0 <= lun <= 255:
        errors.append(invalid(f"{path}.lun", lun, names.inclusive_range(0, 255)))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        errors.append(required(f"{path}.secretRef"))
    if source.get("initiatorName") is not None:
        errors += _initiator(f"{path}.initiatorname", source["initiatorName"])
    return errors


def iscsi_name_length(path: str, volume: Source) -> Errors:
    source, name = volume["iscsi"], volume.get("name", "")
    if source.get("initiatorName") is None or names.length(f"{name}:{source.get('targetPortal', '')}") <= 64:
        return []
    why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
    return [invalid(f"{path}.name", name, why)]


def glusterfs(path: str, source: Source) -> Errors:
    return _needs(path, source, "endpoints", "path")


def flocker(path: str, source: Source) -> Errors:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID", "")
    errors: Errors = [] if name or uid else [required(path, "one of datasetName and datasetUUID is required")]
    if name and uid:
        errors.append(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
    if "/" in name:
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return errors


def rbd(path: str, source: Source) -> Errors:
    return _needs(path, source, "monitors", "image")


def cinder(path: str, source: Source) -> Errors:
    errors = _needs(path, source, "volumeID")
    secret = source.get("secretRef")
    return [*errors, required(f"{path}.secretRef.name")] if secret is not None and not secret.get("name") else errors


def cephfs(path: str, source: Source) -> Errors:
    return _needs(path, source, "monitors")


def quobyte(path: str, source: Source) -> Errors:
    registry = source.get("registry", "")
    errors: Errors = []
    if not registry:
        errors.append(required(f"{path}.registry", "must be a host:port pair or multiple pairs separated by commas"))
    elif names.length(source.get("tenant", "")) >= 65:
        errors.append(required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters"))
    else:
        why = "must be a host:port pair or multiple pairs separated by commas"
        errors += [invalid(f"{path}.registry", registry, why) for pair in registry.split(",") if not _HOST_PORT.fullmatch(pair)]
    return errors + _needs(path, source, "volume")


def fibre_channel(path: str, source: Source) -> Errors:
    targets, ids, lun = source.get("targetWWNs") or [], source.get("wwids") or [], source.get("lun")
    errors: Errors = []
    if not targets and not ids:
        errors.append(required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"))
    if targets and ids:
        errors.append(invalid(f"{path}.targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously"))
    if targets and lun is None:
        errors.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif targets and lun is not None and not 0 <= lun <= 255:
        errors.append(invalid(f"{path}.lun", lun, names.inclusive_range(0, 255)))
    return errors


def flex_volume(path: str, source: Source) -> Errors:
    errors = _needs(path, source, "driver")
    for key in sorted(source.get("options") or {}):
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            errors.append(invalid(f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved"))
    return errors


def azure_file(path: str, source: Source) -> Errors:
    return _needs(path, source, "secretName", "shareName")


def vsphere(path: str, source: Source) -> Errors:
    return _needs(path, source, "volumePath")


def photon(path: str, source: Source) -> Errors:
    return _needs(path, source, "pdID")


def portworx(path: str, source: Source) -> Errors:
    return _needs(path, source, "volumeID")


def azure_disk(path: str, source: Source) -> Errors:
    errors = _needs(path, source, "diskName", "diskURI")
    uri, kind, caching = source.get("diskURI", ""), source.get("kind"), source.get("cachingMode")
    cachings = ("None", "ReadOnly", "ReadWrite")
    kinds = ("Dedicated", "Managed", "Shared")
    if caching is not None and caching not in cachings:
        errors.append(not_supported(f"{path}.cachingMode", caching, cachings))
    if kind is not None and kind not in kinds:
        errors.append(not_supported(f"{path}.kind", kind, kinds))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        expected = ("/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",)
        errors.append(not_supported(f"{path}.diskURI", uri, expected))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        expected = ("https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",)
        errors.append(not_supported(f"{path}.diskURI", uri, expected))
    return errors


def storage_os(path: str, source: Source) -> Errors:
    name, namespace = source.get("volumeName", ""), source.get("volumeNamespace", "")
    errors = complain(f"{path}.volumeName", name, names.dns_label(name)) if name else [required(f"{path}.volumeName")]
    if namespace:
        errors += complain(f"{path}.volumeNamespace", namespace, names.dns_label(namespace))
    secret = source.get("secretRef")
    return [*errors, required(f"{path}.secretRef.name")] if secret is not None and not secret.get("name") else errors


def scale_io(path: str, source: Source) -> Errors:
    return _needs(path, source, "gateway", "system", "volumeName")


def csi(path: str, source: Source) -> Errors:
    errors = csi_driver_name(f"{path}.driver", source.get("driver", ""))
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return errors
    name = secret.get("name", "")
    if not name:
        return [*errors, required(f"{path}.nodePublishSecretRef.name")]
    return errors + complain(f"{path}.name", name, names.dns_subdomain(name))


def csi_driver_name(path: str, name: str) -> Errors:
    if not name:
        return [required(path)]
    errors: Errors = [too_long(path, 63)] if len(name) > 63 else []
    return errors + complain(path, name, names.dns_subdomain(name.lower()))
