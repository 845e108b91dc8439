"""Volumes of a pod: exactly one source each, names unique."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, forbidden, invalid, required
from setpoint.registry.fields import Errors, complain, dns_label
from setpoint.registry.persistent_volume_claim.spec import validate_claim_template
from setpoint.registry.pod.validation import remote_volumes as remote
from setpoint.registry.pod.validation import volume_sources as local
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.projected import validate_downward_volume, validate_projected
from setpoint.registry.pod.validation.resources import amount

Source = Mapping[str, Any]
Check = Callable[[str, Source], Errors]


def _ephemeral(path: str, source: Source) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    return validate_claim_template(f"{path}.volumeClaimTemplate", template)


# in Kubernetes' order; the second text is the path of a complaint about the source where it is not the field's name
_SOURCES: tuple[tuple[str, str, Check], ...] = (
    ("hostPath", "", local.host_path),
    ("gitRepo", "", local.git_repo),
    ("gcePersistentDisk", "persistentDisk", remote.gce_disk),
    ("awsElasticBlockStore", "", remote.aws_disk),
    ("secret", "", local.secret),
    ("nfs", "", remote.nfs),
    ("iscsi", "", remote.iscsi),
    ("glusterfs", "", remote.glusterfs),
    ("flocker", "", remote.flocker),
    ("persistentVolumeClaim", "", local.claim),
    ("rbd", "", remote.rbd),
    ("cinder", "", remote.cinder),
    ("cephfs", "", remote.cephfs),
    ("quobyte", "", remote.quobyte),
    ("downwardAPI", "", validate_downward_volume),
    ("fc", "", remote.fibre_channel),
    ("flexVolume", "", remote.flex_volume),
    ("configMap", "", local.config_map),
    ("azureFile", "", remote.azure_file),
    ("vsphereVolume", "", remote.vsphere),
    ("photonPersistentDisk", "", remote.photon),
    ("portworxVolume", "", remote.portworx),
    ("azureDisk", "", remote.azure_disk),
    ("storageos", "", remote.storage_os),
    ("projected", "", validate_projected),
    ("scaleIO", "", remote.scale_io),
    ("csi", "", remote.csi),
    ("ephemeral", "", _ephemeral),
    ("image", "", local.image),
)


def validate_volumes(path: str, volumes: Sequence[Source], options: Options) -> tuple[dict[str, Source], Errors]:
    """The volumes without complaint, which mounts may refer to, and the complaints."""
    generated = {f"{options.pod_name}-{volume.get('name', '')}" for volume in volumes if volume.get("ephemeral") is not None}
    good: dict[str, Source] = {}
    errors: Errors = []
    for i, volume in enumerate(volumes):
        here, name = f"{path}[{i}]", volume.get("name", "")
        own = _source(here, volume, options)
        own += dns_label(f"{here}.name", name) if name else [required(f"{here}.name")]
        if name in good:
            own.append(duplicate(f"{here}.name", name))
        if own:
            errors += own
        else:
            good[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if options.pod_name and claim in generated:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{here}.persistentVolumeClaim.claimName", claim, why))
    return good, errors


def _source(path: str, volume: Source, options: Options) -> Errors:
    errors: Errors = []
    count = 0
    empty = volume.get("emptyDir")
    if empty is not None:
        count = 1
        if empty.get("sizeLimit") is not None and amount(empty["sizeLimit"]).nanos < 0:
            errors.append(forbidden(f"{path}.emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity"))
    for field, shown, check in _SOURCES:
        source = volume.get(field)
        if source is None:
            continue
        if count:
            errors.append(forbidden(f"{path}.{_misspelt(field)}", "may not specify more than 1 volume type"))
            errors += remote.iscsi_name_length(path, volume) if field == "iscsi" else []
            continue
        count = 1
        if field == "image" and not source.get("reference") and options.is_pod:
            errors.append(required(f"{path}.image.reference"))
        errors += check(f"{path}.{shown or field}", source)
        if field == "iscsi":
            errors += remote.iscsi_name_length(path, volume)
        if field == "ephemeral":
            errors += _claim_name(path, volume.get("name", ""), options)
    if not count:
        errors.append(required(path, "must specify a volume type"))
    return errors


def _misspelt(field: str) -> str:
    """Kubernetes' own spelling of a few fields in this one message."""
    return {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}.get(field, field)


def _claim_name(path: str, volume_name: str, options: Options) -> Errors:
    """The claim made for the volume is called after pod and volume."""
    if not options.pod_name or not volume_name:
        return []
    claim = f"{options.pod_name}-{volume_name}"
    messages = [f'PVC name "{claim}": {message}' for message in names.dns_subdomain(claim)]
    return complain(f"{path}.name", volume_name, messages)
