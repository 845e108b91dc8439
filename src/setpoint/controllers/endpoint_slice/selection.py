"""Which pods stand behind a Service, and at which ports. Pure. As `k8s.io/endpointslice/util` and `podutil.FindPort`."""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.api.types import core_v1
from setpoint.controllers.owned_pods.state import is_ready, is_terminal, ready_condition
from setpoint.kit.clock import parse_rfc3339

TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"


def selects(service: core_v1.Service, pod: core_v1.Pod) -> bool:
    """Whether the selector matches; one without any selects nothing here."""
    selector = service.spec.selector
    return bool(selector) and all(pod.metadata.labels.get(key) == value for key, value in selector.items())


def is_reachable(pod: core_v1.Pod, *, terminating: bool) -> bool:
    """It has an address and has not ended; `terminating` pods count too if asked for."""
    if is_terminal(pod) or not (pod.status.pod_ip or pod.status.pod_ips):
        return False
    return terminating or not pod.metadata.deletion_timestamp


def is_headless(service: core_v1.Service) -> bool:
    return service.spec.cluster_ip in {"", "None"}


def addresses(pod: core_v1.Pod, *, ipv6: bool) -> list[str]:
    """The pod's addresses of one family."""
    found = [entry.ip for entry in pod.status.pod_ips] or [pod.status.pod_ip]
    return [address for address in found if address and (":" in address) == ipv6]


def hostname(service: core_v1.Service, pod: core_v1.Pod) -> str:
    """The pod's name in the Service's domain, if it asks for one."""
    return pod.spec.hostname if pod.spec.subdomain == service.metadata.name else ""


def target_port(pod: core_v1.Pod, port: core_v1.ServicePort) -> int | None:
    """The number of a Service's target port on this pod; a name is looked up in its containers, sidecars last."""
    target = port.target_port or port.port
    if isinstance(target, int):
        return target
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    for container in (*pod.spec.containers, *sidecars):
        for each in container.ports:
            if each.name == target and (each.protocol or "TCP") == (port.protocol or "TCP"):
                return each.container_port
    return None


def reference(pod: core_v1.Pod) -> core_v1.ObjectReference:
    meta = pod.metadata
    return core_v1.ObjectReference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid)


class Triggers:
    """Since when what is published is out of date: the earliest change of the Service and its pods that was not published yet."""

    def __init__(self) -> None:
        self._services: dict[str, float] = {}
        self._pods: dict[str, dict[str, float]] = {}

    def changed(self, key: str, service: core_v1.Service, pods: Iterable[core_v1.Pod]) -> float | None:
        """That moment; None if nothing has a newer time than before."""
        former, times = self._pods.get(key, {}), {}
        changes = []
        for pod in pods:
            condition = ready_condition(pod)
            if condition is not None and condition.last_transition_time:
                moment = times[pod.metadata.name] = parse_rfc3339(condition.last_transition_time)
                if moment > former.get(pod.metadata.name, 0.0):
                    changes.append(moment)
        created = parse_rfc3339(service.metadata.creation_timestamp) if service.metadata.creation_timestamp else 0.0
        if created > self._services.get(key, 0.0):
            changes.append(created)
        self._services[key], self._pods[key] = created, times
        return min(changes, default=None)

    def forget(self, key: str) -> None:
        self._services.pop(key, None)
        self._pods.pop(key, None)


def matter(old: core_v1.Pod, new: core_v1.Pod) -> bool:
    """Whether a change of a pod changes what is published of it."""
    return _seen(old) != _seen(new)


def _seen(pod: core_v1.Pod) -> tuple[object, ...]:
    spec, status, meta = pod.spec, pod.status, pod.metadata
    ended, going = is_terminal(pod), bool(meta.deletion_timestamp)
    place = (spec.node_name, spec.hostname, spec.subdomain, status.pod_ip, status.pod_ips)
    return (meta.uid, meta.labels, place, ended, going, is_ready(pod), ready_condition(pod))
