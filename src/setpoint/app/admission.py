"""Kubernetes' AdmissionConfiguration (`--admission-control-config-file`): how plugins are set up that can be.

Source: apiserver `pkg/admission/config.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setpoint.app.options import StartError
from setpoint.registry.admission.pod_security import configuration
from setpoint.registry.admission.pod_security.configuration import DEFAULT, Settings

_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1", "apiserver.k8s.io/v1alpha1")
_KIND = "AdmissionConfiguration"
_CONFIGURED = ("PodSecurity",)


def pod_security(file: str) -> Settings:
    """What the file says of PodSecurity; raises StartError where it cannot be used."""
    if not file:
        return DEFAULT
    try:
        found = _plugins(Path(file)).get("PodSecurity")
        return configuration.read(found) if found is not None else DEFAULT
    except (OSError, ValueError) as error:
        raise StartError(f"admission configuration {file}: {error}") from error


def _plugins(file: Path) -> Mapping[str, Mapping[str, Any]]:
    """The configuration of each plugin that has one, in the file itself or in one of its own."""
    document = _read(file)
    if document.get("apiVersion") not in _VERSIONS or document.get("kind") != _KIND:
        raise ValueError(f"is no {_VERSIONS[0]} {_KIND}")
    found: dict[str, Mapping[str, Any]] = {}
    for plugin in document.get("plugins") or ():
        name = plugin.get("name", "")
        if name not in _CONFIGURED:
            raise ValueError(f'plugin "{name}" has nothing to configure; only {", ".join(_CONFIGURED)} does')
        if plugin.get("configuration") is not None:
            found[name] = plugin["configuration"]
        elif plugin.get("path"):
            found[name] = _read(file.parent / plugin["path"])
    return found


def _read(file: Path) -> Mapping[str, Any]:
    import yaml

    try:
        document = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{file.name} is no YAML: {error}") from error
    if isinstance(document, dict):
        return document
    raise ValueError(f"{file.name} is no object")
