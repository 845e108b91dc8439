"""What the server says, without refusing, about pods and templates that will not do what their author may think.

Source: `pkg/api/pod/warnings.go`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names, quantity
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
    out += _repeated(f"{path}.hostAliases", "ip", spec.get("hostAliases") or ())
    out += _pull_secrets(f"{path}.imagePullSecrets", spec.get("imagePullSecrets") or ())
    out += _fractions(f"{path}.overhead", spec.get("overhead") or {})
    for here, container in all_containers(path, spec):
        out += _app_armor(prefix, container, annotations, spec)
        out += _container(here, container)
    out += _shared_ports(path, spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        out.append(f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1")
    return out


def _labels(path: str, spec: Spec) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_NODE_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_NODE_LABELS[key]}"
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for i, term in enumerate((node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from _term(f"{path}.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{i}]", term)
    for i, term in enumerate(node.get(_PREFERRED) or ()):
        yield from _term(f"{path}.affinity.nodeAffinity.{_PREFERRED}[{i}].preference", term.get("preference") or {})
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        here = f"{path}.topologySpreadConstraints[{i}]"
        if constraint.get("topologyKey") in DEPRECATED_NODE_LABELS:
            yield f"{here}.topologyKey: {constraint['topologyKey']} is {DEPRECATED_NODE_LABELS[constraint['topologyKey']]}"
        if constraint.get("labelSelector") is None:
            yield f"{here}.labelSelector: a null labelSelector results in matching no pod"


def _term(path: str, term: Mapping[str, Any]) -> Iterator[str]:
    for i, requirement in enumerate(term.get("matchExpressions") or ()):
        key = requirement.get("key")
        if key in DEPRECATED_NODE_LABELS:
            yield f"{path}.matchExpressions[{i}].key: {key} is {DEPRECATED_NODE_LABELS[key]}"


def _volumes(path: str, spec: Spec) -> list[str]:
    return [
        f"{path}.volumes[{i}].{field}: {text}"
        for i, volume in enumerate(spec.get("volumes") or ())
        for field, text in _DEPRECATED_VOLUMES.items()
        if volume.get(field) is not None
    ]


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


def _fractions(path: str, resources: Mapping[str, Any]) -> list[str]:
    out = []
    for name in ("memory", "ephemeral-storage"):
        value = quantity.parse(str(resources[name])) if name in resources else quantity.ZERO
        if value.milli_value() % 1000:
            out.append(f'{path}[{name}]: fractional byte value "{value}" is invalid, must be an integer')
    return out


def _app_armor(prefix: str, container: Mapping[str, Any], annotations: Mapping[str, str], spec: Spec) -> list[str]:
    key = _APP_ARMOR + container.get("name", "")
    profile = (container.get("securityContext") or {}).get("appArmorProfile")
    own = (spec.get("securityContext") or {}).get("appArmorProfile")
    if key not in annotations or profile is not None or own is not None:
        return []
    return [f'{prefix}metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead']


def _container(path: str, container: Mapping[str, Any]) -> list[str]:
    resources = container.get("resources") or {}
    out = _fractions(f"{path}.resources.limits", resources.get("limits") or {})
    out += _fractions(f"{path}.resources.requests", resources.get("requests") or {})
    seen: dict[str, int] = {}
    for i, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        if name in seen:
            hidden = f"hides previous definition of {json.dumps(name)}, which may be dropped when using apply"
            out.append(f"{path}.env[{i}]: {hidden}")
        seen[name] = i
    return out + _ports(f"{path}.ports", container.get("ports") or ())


def _port_key(port: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(port.get(field) for field in ("containerPort", "protocol", "hostPort", "hostIP"))


def _ports(path: str, ports: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same port twice in one container."""
    first: dict[tuple[Any, ...], int] = {}
    out = []
    for i, port in enumerate(ports):
        j = first.setdefault(_port_key(port), i)
        if i != j:
            out.append(f"{path}[{i}]: duplicate port definition with {path}[{j}]")
    return out


def _shared_ports(path: str, spec: Spec) -> list[str]:
    """The same port in two containers that run at the same time."""
    first: dict[tuple[Any, ...], str] = {}
    out = []
    for here, container in all_containers(path, spec):
        sidecar = ".initContainers[" not in here or container.get("restartPolicy") == "Always"
        for i, port in enumerate(container.get("ports") or ()) if sidecar else ():
            if not port.get("containerPort"):
                continue
            key, where = (port["containerPort"], port.get("protocol")), f"{here}.ports[{i}]"
            other = first.setdefault(key, where)
            if not other.startswith(f"{here}."):
                out.append(f"{where}: duplicate port definition with {other}")
    return out
