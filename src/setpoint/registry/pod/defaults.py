"""What a pod or pod template gets where its author said nothing.

Source: `pkg/apis/core/v1/defaults.go`, the declared defaults of `k8s.io/api/core/v1`, and what conversion to the internal types
does on the way (`serviceAccount`, `podIP`, negative periods of grace).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.registry.pod.aggregate import aggregate_limits, aggregate_requests
from setpoint.registry.pod.images import default_pull_policy
from setpoint.registry.pod.validation.resources import COMPUTE, is_huge_page, is_pod_level
from setpoint.registry.strategy import Object

_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600
_CONTAINER_FIELDS = ("containers", "initContainers", "ephemeralContainers")
_DEAD_ANNOTATIONS = frozenset(
    f"pod.{stage}.kubernetes.io/init-container{what}" for stage in ("alpha", "beta") for what in ("s", "-statuses")
)


def default_pod(pod: Object) -> None:
    """A pod itself: more than a template gets."""
    spec = pod.setdefault("spec", {})
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            _requests_from_limits(container)
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    _pod_level_resources(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        _host_ports(spec)
    default_around_spec(pod)


def default_around_spec(pod: Object) -> None:
    """A pod's status and annotations."""
    _pod_addresses(pod.get("status") or {})
    _drop_dead_annotations(pod)


def _drop_dead_annotations(obj: Object) -> None:
    """Init containers as pods had them once (`pkg/apis/core/v1/conversion.go`)."""
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations")
    if annotations and not _DEAD_ANNOTATIONS.isdisjoint(annotations):
        metadata["annotations"] = {key: value for key, value in annotations.items() if key not in _DEAD_ANNOTATIONS}
        if not metadata["annotations"]:
            del metadata["annotations"]


def default_template(template: Object) -> None:
    """The `template` of a workload."""
    default_pod_spec(template.setdefault("spec", {}))
    _drop_dead_annotations(template)


def default_pod_spec(spec: Object) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    _fill_empty(spec, dnsPolicy="ClusterFirst", restartPolicy="Always", schedulerName="default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for container in _containers(spec):
        _container(container)
    if spec.get("overhead"):
        spec["overhead"] = _rounded(spec["overhead"])
    if spec.get("resources"):
        round_resources(spec["resources"])


def _fill_empty(obj: Object, **defaults: Any) -> None:
    """An empty text is as good as none."""
    for name, value in defaults.items():
        if not obj.get(name):
            obj[name] = value


def _containers(spec: Object) -> Iterator[Object]:
    for field in _CONTAINER_FIELDS:
        yield from spec.get(field) or ()


def _container(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = default_pull_policy(container.get("image") or "")
    _fill_empty(container, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")
    for port in container.get("ports") or ():
        _fill_empty(port, protocol="TCP")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source:
            _value_source(source)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name) is not None:
            _probe(container[name])
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _http_get(handler)
    if container.get("resources"):
        round_resources(container["resources"])


def _value_source(source: Object) -> None:
    if source.get("fieldRef") is not None:
        _fill_empty(source["fieldRef"], apiVersion="v1")
    if source.get("resourceFieldRef") is not None:
        _divisor(source["resourceFieldRef"])
    if source.get("fileKeyRef") is not None:
        source["fileKeyRef"].setdefault("optional", False)


def _divisor(ref: Object) -> None:
    """A quantity by value: nothing given is written as 0."""
    ref["divisor"] = quantity.canonical(ref["divisor"]) if ref.get("divisor") is not None else "0"


def _probe(probe: Object) -> None:
    _fill_empty(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    _http_get(probe)
    grpc = probe.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _http_get(handler: Object) -> None:
    action = handler.get("httpGet")
    if action is not None:
        _fill_empty(action, path="/", scheme="HTTP")


def _rounded(resources: Object) -> Object:
    """A resource list to whole thousandths, as Kubernetes keeps them."""
    return {name: quantity.canonical_milli(value) for name, value in resources.items()}


def round_resources(resources: Object) -> None:
    for side in ("limits", "requests"):
        if resources.get(side):
            resources[side] = _rounded(resources[side])


def _requests_from_limits(container: Object) -> None:
    resources = container.get("resources") or {}
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _pod_level_resources(spec: Object) -> None:
    """Pod-level limits of huge pages from the containers', then requests from the containers' and from the limits (KEP-2837)."""
    resources = spec.get("resources") or {}
    requests, limits = (dict(resources.get(side) or {}) for side in ("requests", "limits"))
    if requests or limits:
        for name, total in aggregate_limits(spec).items():
            if is_huge_page(name) and name not in requests:
                limits.setdefault(name, str(total))
    if not limits:
        return
    for name, total in aggregate_requests(spec).items():
        if name in COMPUTE:
            requests.setdefault(name, str(total))
    for name, limit in limits.items():
        if is_pod_level(name):
            requests.setdefault(name, limit)
    resources["limits"] = limits
    if requests:
        resources["requests"] = requests


def _host_ports(spec: Object) -> None:
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for port in container.get("ports") or ():
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]


def _pod_addresses(status: Object) -> None:
    """`podIP` is the first of `podIPs`; where they differ the old single field is believed."""
    single, many = status.get("podIP"), status.get("podIPs")
    if single and (not many or many[0].get("ip") != single):
        status["podIPs"] = [{"ip": single}]
    elif many and not single:
        status["podIP"] = many[0].get("ip", "")


def _volume(volume: Object) -> None:
    source = next((value for key, value in volume.items() if key != "name" and value is not None), None)
    if source is None:
        volume["emptyDir"] = {}
        return
    default_source(volume)


def default_source(volume: Object) -> None:
    """The source of a volume, also of a persistent one."""
    for name, fill in _VOLUME_DEFAULTS.items():
        if volume.get(name) is not None:
            fill(volume[name])


def _file_mode(source: Object) -> None:
    source.setdefault("defaultMode", _FILE_MODE)


def _downward(source: Object) -> None:
    _file_mode(source)
    _downward_items(source)


def _downward_items(source: Object) -> None:
    for item in source.get("items") or ():
        _value_source(item)


def _projected(source: Object) -> None:
    _file_mode(source)
    for projection in source.get("sources") or ():
        token = projection.get("serviceAccountToken")
        if token is not None:
            token.setdefault("expirationSeconds", _TOKEN_SECONDS)
        if projection.get("downwardAPI") is not None:
            _downward_items(projection["downwardAPI"])


def _image(source: Object) -> None:
    if not source.get("pullPolicy"):
        source["pullPolicy"] = default_pull_policy(source.get("reference") or "")


def _ephemeral(source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        default_claim_spec(template.setdefault("spec", {}))


def default_claim_spec(spec: Object) -> None:
    """The spec of a persistent volume claim, also inside templates."""
    spec.setdefault("volumeMode", "Filesystem")
    if spec.get("resources"):
        round_resources(spec["resources"])


def _empty_dir(source: Object) -> None:
    if source.get("sizeLimit") is not None:
        source["sizeLimit"] = quantity.canonical(source["sizeLimit"])


def _azure_disk(source: Object) -> None:
    for name, value in {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False}.items():
        source.setdefault(name, value)


_VOLUME_DEFAULTS = {
    "emptyDir": _empty_dir,
    "hostPath": lambda source: source.setdefault("type", ""),
    "secret": _file_mode,
    "configMap": _file_mode,
    "downwardAPI": _downward,
    "projected": _projected,
    "image": _image,
    "ephemeral": _ephemeral,
    "iscsi": lambda source: _fill_empty(source, iscsiInterface="default"),
    "rbd": lambda source: _fill_empty(source, pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "scaleIO": lambda source: _fill_empty(source, storageMode="ThinProvisioned", fsType="xfs"),
    "azureDisk": _azure_disk,
}
