"""What a pod asks for, what a node has: whole numbers by resource name (cpu in millicores, all else in units).

Source: `PodRequests` of Kubernetes' component-helpers. Init containers run one after the other before the rest, so the largest
counts; a restartable init container (a sidecar) stays and is added to everything that starts after it. Requests of the pod
as a whole stand in for those of its containers; a runtime class's overhead comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import Container, Pod

CPU, MEMORY, PODS, EPHEMERAL = "cpu", "memory", "pods", "ephemeral-storage"
Amounts = dict[str, int]

# What a container that asks for nothing is taken to need when nodes are compared: otherwise all such pods would pile up on one.
DEFAULTS: Mapping[str, int] = {CPU: 100, MEMORY: 200 * 1024 * 1024}


def amount(name: str, quantity: str) -> int:
    parsed = parse(quantity)
    return parsed.milli_value() if name == CPU else parsed.value()


def amounts(quantities: Mapping[str, str]) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def subtract(total: Amounts, less: Mapping[str, int]) -> None:
    for name, value in less.items():
        total[name] = total.get(name, 0) - value


def _raise(total: Amounts, floor: Mapping[str, int]) -> None:
    for name, value in floor.items():
        if value > total.get(name, 0):
            total[name] = value


def _requests(container: Container, defaults: Mapping[str, int]) -> Amounts:
    return {**defaults, **amounts(container.resources.requests)}


def pod_requests(pod: Pod, defaults: Mapping[str, int] | None = None) -> Amounts:
    """The resources a node must have free; `defaults` stand in for what a container does not say."""
    spec = pod.spec
    missing = defaults or {}
    total: Amounts = {}
    for container in spec.containers:
        add(total, _requests(container, missing))
    if spec.init_containers:
        _add_init_containers(total, pod, missing)
    if spec.resources is not None:
        # Only cpu, memory and huge pages can be asked for as a pod.
        total.update(amounts(spec.resources.requests))
    add(total, amounts(spec.overhead))
    return total


def _add_init_containers(total: Amounts, pod: Pod, missing: Mapping[str, int]) -> None:
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        requests = _requests(container, missing)
        if container.restart_policy == "Always":
            add(total, requests)
            add(sidecars, requests)
            _raise(peak, sidecars)
        else:
            add(requests, sidecars)
            _raise(peak, requests)
    _raise(total, peak)
