"""What the server says, without refusing, about pods and templates that will not do what their author may think.

Source: `pkg/api/pod/warnings.go`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names, quantity
from setpoint.registry.address_warnings import ip_warnings
from setpoint.registry.pod.app_armor import DEPRECATED
from setpoint.registry.pod.path_warnings import path_warnings
from setpoint.registry.pod.port_warnings import port_warnings
from setpoint.registry.pod.validation.windows import all_containers

Spec = Mapping[str, Any]

DEPRECATED_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}
_DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_DEPRECATED_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_warnings(pod: Mapping[str, Any]) -> list[str]:
    return _warnings("", pod["metadata"], pod.get("spec") or {})


def template_warnings(path: str, template: Mapping[str, Any]) -> list[str]:
    """`path` is where the template stands: `spec.template`."""
    return _warnings(f"{path}.", template.get("metadata") or {}, template.get("spec") or {})


def name_warning(name: str) -> list[str]:
    """A pod's or workload's name becomes a host name."""
    complaints = names.dns_label(name)
    if not complaints:
        return []
    why = "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
    return [f"{why}: [{' '.join(complaints)}]"]


def workload_name_warning(name: str) -> list[str]:
    """The name begins those of the pods, which become host names."""
    complaints = names.dns_label(name)
    if not complaints:
        return []
    why = (
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior;"
        " a DNS label is recommended"
    )
    return [f"{why}: [{' '.join(complaints)}]"]


def _warnings(prefix: str, metadata: Mapping[str, Any], spec: Spec) -> list[str]:
    path = f"{prefix}spec"
    annotations = metadata.get("annotations") or {}
    out = list(_labels(path, spec))
    out += [f"{prefix}metadata.annotations[{key}]: {text}" for key, text in _DEPRECATED_ANNOTATIONS.items() if key in annotations]
    out += _volumes(path, spec)
    out += path_warnings(spec.get("volumes") or ())
    out += _repeated(f"{path}.hostAliases", "ip", spec.get("hostAliases") or ())
    out += _pull_secrets(f"{path}.imagePullSecrets", spec.get("imagePullSecrets") or ())
    for name in ("memory", "ephemeral-storage"):
        out += fraction(f"{path}.overhead", name, spec.get("overhead") or {})
    out += _seccomp(prefix, annotations, _SECCOMP_POD, spec.get("securityContext"))
    for here, container in all_containers(path, spec):
        own = _SECCOMP_CONTAINER + container.get("name", "")
        out += _seccomp(prefix, annotations, own, container.get("securityContext"))
        out += _app_armor(prefix, container, annotations, spec)
        out += _container(here, container)
    out += port_warnings(path, spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        out.append(f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1")
    out += _null_selectors(f"{path}.affinity", spec.get("affinity") or {})
    return [*out, *_addresses(path, spec)]


def _addresses(path: str, spec: Spec) -> Iterator[str]:
    for i, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from ip_warnings(f"{path}.dnsConfig.nameservers[{i}]", server)
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        yield from ip_warnings(f"{path}.hostAliases[{i}].ip", alias.get("ip", ""))


def _labels(path: str, spec: Spec) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_NODE_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_NODE_LABELS[key]}"
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for i, term in enumerate((node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from node_term_warnings(f"{path}.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{i}]", term)
    for i, term in enumerate(node.get(_PREFERRED) or ()):
        yield from node_term_warnings(
            f"{path}.affinity.nodeAffinity.{_PREFERRED}[{i}].preference", term.get("preference") or {}, values=True
        )
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        here = f"{path}.topologySpreadConstraints[{i}]"
        if constraint.get("topologyKey") in DEPRECATED_NODE_LABELS:
            yield f"{here}.topologyKey: {constraint['topologyKey']} is {DEPRECATED_NODE_LABELS[constraint['topologyKey']]}"
        if constraint.get("labelSelector") is None:
            yield f"{here}.labelSelector: a null labelSelector results in matching no pod"


def node_term_warnings(path: str, term: Mapping[str, Any], *, values: bool = False) -> Iterator[str]:
    """A preference's label values are not validated: they are warned about (`values`)."""
    for i, requirement in enumerate(term.get("matchExpressions") or ()):
        key, here = requirement.get("key"), f"{path}.matchExpressions[{i}]"
        if key in DEPRECATED_NODE_LABELS:
            yield f"{here}.key: {key} is {DEPRECATED_NODE_LABELS[key]}"
        for j, value in enumerate((requirement.get("values") or ()) if values else ()):
            for message in names.label_value(value):
                yield f"{here}.values[{j}]: {value} is invalid, {message}"


def _volumes(path: str, spec: Spec) -> list[str]:
    out = []
    for i, volume in enumerate(spec.get("volumes") or ()):
        here = f"{path}.volumes[{i}]"
        for field, text in _DEPRECATED_VOLUMES.items():
            if volume.get(field) is not None:
                out.append(f"{here}.{'storageOS' if field == 'storageos' else field}: {text}")
        claim = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        out += claim_warnings(f"{here}.ephemeral.volumeClaimTemplate.spec", claim.get("spec") or {})
    return out


def claim_warnings(path: str, spec: Spec) -> list[str]:
    """Of a PersistentVolumeClaim's spec."""
    resources = spec.get("resources") or {}
    out = []
    for side in ("requests", "limits"):
        out += fraction(f"{path}.resources.{side}", "storage", resources.get(side) or {})
    return out


def _repeated(path: str, field: str, items: Sequence[Mapping[str, Any]]) -> list[str]:
    seen: set[str] = set()
    out = []
    for i, item in enumerate(items):
        value = item.get(field, "")
        if value in seen:
            out.append(f"{path}[{i}].{field}: duplicate {field} {json.dumps(value)}")
        seen.add(value)
    return out


def _pull_secrets(path: str, secrets: Sequence[Mapping[str, Any]]) -> list[str]:
    nameless = [f'{path}[{i}].name: invalid empty name ""' for i, secret in enumerate(secrets) if not secret.get("name")]
    return _repeated(path, "name", secrets) + nameless


def fraction(path: str, name: str, resources: Mapping[str, Any]) -> list[str]:
    """Bytes come whole."""
    value = quantity.parse(str(resources[name])) if resources.get(name) is not None else quantity.ZERO
    if value.milli_value() % 1000:
        return [f'{path}[{name}]: fractional byte value "{value}" is invalid, must be an integer']
    return []


def _seccomp(prefix: str, annotations: Mapping[str, Any], key: str, context: Mapping[str, Any] | None) -> list[str]:
    if key not in annotations or (context or {}).get("seccompProfile") is not None:
        return []
    return [f'{prefix}metadata.annotations[{key}]: non-functional in v1.27+; use the "seccompProfile" field instead']


def _app_armor(prefix: str, container: Mapping[str, Any], annotations: Mapping[str, str], spec: Spec) -> list[str]:
    # a pod's own annotations have become fields before (`pod.app_armor`), which has been told
    if not prefix:
        return []
    key = _APP_ARMOR + container.get("name", "")
    profile = (container.get("securityContext") or {}).get("appArmorProfile")
    own = (spec.get("securityContext") or {}).get("appArmorProfile")
    if key not in annotations or profile is not None or own is not None:
        return []
    return [f"{prefix}metadata.annotations[{key}]: {DEPRECATED}"]


def _container(path: str, container: Mapping[str, Any]) -> list[str]:
    resources = container.get("resources") or {}
    out: list[str] = []
    for name in ("memory", "ephemeral-storage"):
        for side in ("limits", "requests"):
            out += fraction(f"{path}.resources.{side}", name, resources.get(side) or {})
    seen: set[str] = set()
    for i, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        if name in seen and _hides(variable):
            hidden = f"hides previous definition of {json.dumps(name)}, which may be dropped when using apply"
            out.append(f"{path}.env[{i}]: {hidden}")
        seen.add(name)
    return out


def _hides(variable: Mapping[str, Any]) -> bool:
    """Whether a later definition makes the earlier one useless: it does not build on it."""
    value, before = variable.get("value", ""), f"$({variable.get('name', '')})"
    return variable.get("valueFrom") is not None or value == before or before not in value


def _null_selectors(path: str, affinity: Mapping[str, Any]) -> Iterator[str]:
    why = "a null labelSelector results in matching no pod"
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        for i, term in enumerate(rules.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{kind}.{_REQUIRED}[{i}].labelSelector: {why}"
        for i, weighted in enumerate(rules.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.{kind}.{_PREFERRED}[{i}].podAffinityTerm.labelSelector: {why}"
