"""AppArmor profiles that are given by the old annotation become fields (KEP-24).

Source: `pkg/registry/core/pod/strategy.go` (applyAppArmorVersionSkew).
"""

from __future__ import annotations

from typing import Any

from setpoint.registry.pod.validation.annotations import APP_ARMOR_PREFIX
from setpoint.registry.pod.validation.security_context import validate_app_armor_profile
from setpoint.registry.strategy import Object

_KINDS = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
DEPRECATED = 'deprecated since v1.30; use the "appArmorProfile" field instead'


def fields_from_annotations(pod: Object) -> list[str]:
    """Sets the fields of a new pod's containers; the warnings that tell of it."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations") or {}
    if (spec.get("os") or {}).get("name") == "windows" or not any(key.startswith(APP_ARMOR_PREFIX) for key in annotations):
        return []
    own = (spec.get("securityContext") or {}).get("appArmorProfile")
    out = []
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(field) or ():
            key = APP_ARMOR_PREFIX + container.get("name", "")
            if key in annotations and _convert(container, annotations[key], own):
                out.append(f"metadata.annotations[{key}]: {DEPRECATED}")
    return out


def _convert(container: Object, annotation: str, own: Any) -> bool:
    """Whether the annotation says more than the fields did."""
    if (container.get("securityContext") or {}).get("appArmorProfile") is not None:
        return False
    profile = _profile(annotation)
    if profile is None:
        return True
    if profile == own:
        return False
    container["securityContext"] = {**(container.get("securityContext") or {}), "appArmorProfile": profile}
    return True


def _profile(annotation: str) -> dict[str, str] | None:
    """The profile that an annotation names; None if it makes none."""
    if annotation in _KINDS:
        return {"type": _KINDS[annotation]}
    if not annotation.startswith("localhost/"):
        return None
    profile = {"type": "Localhost", "localhostProfile": annotation.removeprefix("localhost/")}
    return None if validate_app_armor_profile("", profile) else profile
