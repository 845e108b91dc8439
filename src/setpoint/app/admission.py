"""Kubernetes' AdmissionConfiguration (`--admission-control-config-file`): how plugins are set up that can be.

Source: apiserver `pkg/admission/config.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.apiserver import configuration_file
from setpoint.apiserver.admission_webhooks.following import MUTATING_PLUGIN, VALIDATING_PLUGIN
from setpoint.apiserver.webhooks import identities
from setpoint.apiserver.webhooks.identities import Identities
from setpoint.app.options import StartError
from setpoint.registry.admission.pod_security import configuration
from setpoint.registry.admission.pod_security.configuration import DEFAULT, Settings

_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1", "apiserver.k8s.io/v1alpha1")
_KIND = "AdmissionConfiguration"
_POD_SECURITY = "PodSecurity"
_WEBHOOKS = (MUTATING_PLUGIN, VALIDATING_PLUGIN)
_CONFIGURED = (_POD_SECURITY, *_WEBHOOKS)
_WEBHOOK_KINDS = (
    ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration"),
    ("apiserver.config.k8s.io/v1alpha1", "WebhookAdmission"),
)


class Configured(Struct, frozen=True):
    """What plugins are set up with; `webhook_users` by the plugin's name."""

    pod_security: Settings = DEFAULT
    webhook_users: Mapping[str, Identities] = {}


def configured(file: str) -> Configured:
    """What the file says; raises StartError where it cannot be used."""
    if not file:
        return Configured()
    try:
        found = _plugins(Path(file))
        security = configuration.read(found[_POD_SECURITY]) if _POD_SECURITY in found else DEFAULT
        return Configured(security, {name: _users(found[name]) for name in _WEBHOOKS if name in found})
    except (OSError, ValueError) as error:
        raise StartError(f"admission configuration {file}: {error}") from error


def _users(settings: Mapping[str, Any]) -> Identities:
    """Of a WebhookAdmissionConfiguration. Source: apiserver `pkg/admission/plugin/webhook/config/kubeconfig.go`."""
    found = (settings.get("apiVersion"), settings.get("kind"))
    if found not in _WEBHOOK_KINDS:
        raise ValueError(f"is no {' '.join(_WEBHOOK_KINDS[0])}")
    if unknown := settings.keys() - {"apiVersion", "kind", "kubeConfigFile"}:
        raise ValueError(f'unknown field "{min(unknown)}"')
    file = str(settings.get("kubeConfigFile") or "")
    if not Path(file).is_absolute():
        raise ValueError(f'kubeConfigFile: Invalid value: "{file}": must be an absolute file path')
    return identities.load(Path(file))


def _plugins(file: Path) -> Mapping[str, Mapping[str, Any]]:
    """The configuration of each plugin that has one, in the file itself or in one of its own."""
    document = configuration_file.read(file, _KIND, _VERSIONS)
    found: dict[str, Mapping[str, Any]] = {}
    for plugin in document.get("plugins") or ():
        name = plugin.get("name", "")
        if name not in _CONFIGURED:
            raise ValueError(f'plugin "{name}" has nothing to configure; only {", ".join(_CONFIGURED)} have')
        if plugin.get("configuration") is not None:
            found[name] = plugin["configuration"]
        elif plugin.get("path"):
            found[name] = configuration_file.read_object(file.parent / plugin["path"])
    return found
