"""What the files of a volume hold: pure functions from sources to `{path: File}`.

Source: kubelet's configmap, secret, projected and downwardapi volume plugins.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from setpoint.api.types.core_v1 import ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret
from setpoint.node import downward
from setpoint.node.downward import Surroundings
from setpoint.node.volumes.atomic import File

DEFAULT_MODE = 0o644
Payload = dict[str, File]


class VolumeError(Exception):
    """The volume cannot be made (yet); the message is what the event says after the volume's name."""


def of_config_map(name: str, found: ConfigMap | None, items: Sequence[KeyToPath], mode: int, *, optional: bool) -> Payload:
    if found is None:
        return _absent("configmap", name, optional=optional)
    data = {key: value.encode() for key, value in found.data.items()}
    data |= {key: base64.b64decode(value) for key, value in found.binary_data.items()}
    return _select(data, items, mode, "configmap references non-existent config key", optional=optional)


def of_secret(name: str, found: Secret | None, items: Sequence[KeyToPath], mode: int, *, optional: bool) -> Payload:
    if found is None:
        return _absent("secret", name, optional=optional)
    data = {key: base64.b64decode(value) for key, value in found.data.items()}
    return _select(data, items, mode, "references non-existent secret key", optional=optional)


def _absent(kind: str, name: str, *, optional: bool) -> Payload:
    if optional:
        return {}
    raise VolumeError(f'{kind} "{name}" not found')


def _select(data: Mapping[str, bytes], items: Sequence[KeyToPath], mode: int, complaint: str, *, optional: bool) -> Payload:
    if not items:
        return {key: File(value, mode) for key, value in data.items()}
    out: Payload = {}
    for item in items:
        if item.key in data:
            out[item.path] = File(data[item.key], item.mode if item.mode is not None else mode)
        elif not optional:
            raise VolumeError(f"{complaint}: {item.key}")
    return out


def of_downward(pod: Pod, items: Sequence[DownwardAPIVolumeFile], mode: int, around: Surroundings) -> Payload:
    out: Payload = {}
    for item in items:
        try:
            if item.field_ref is not None:
                text = downward.field(pod, item.field_ref.field_path, around)
            elif item.resource_field_ref is not None:
                text = downward.resource(pod, None, item.resource_field_ref, around)
            else:
                continue
        except downward.FieldError as error:
            raise VolumeError(str(error)) from error
        out[item.path] = File(text.encode(), item.mode if item.mode is not None else mode)
    return out
