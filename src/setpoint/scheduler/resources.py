"""What a pod asks for, what a node has: whole numbers by resource name (cpu in millicores, all else in units).

Source: `PodRequests` of Kubernetes' component-helpers. Init containers run one after the other before the rest, so the largest
counts; a restartable init container (a sidecar) stays and is added to everything that starts after it. Requests of the pod
as a whole stand in for those of its containers; a runtime class's overhead comes on top. While a change in place is under way, a
container (or the pod as a whole) counts with the larger of what it is to have and what it has; with the latter if the node cannot
give it more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import Container, ContainerStatus, Pod, PodStatus

CPU, MEMORY, PODS, EPHEMERAL = "cpu", "memory", "pods", "ephemeral-storage"
#: those that are scored for pods that do not ask for them, too
PLAIN = (CPU, MEMORY, EPHEMERAL)
Amounts = dict[str, int]
#: the pod as a whole, among its containers
WHOLE = ""
#: containers that run with other resources than the spec says, by name
Running = Mapping[str, ContainerStatus | PodStatus]
NOTHING: Running = {}

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


def being_changed(pod: Pod) -> Running:
    """The containers whose resources are not what the spec says by now; WHOLE if those of the pod as a whole are not."""
    spec, status = pod.spec, pod.status
    if not status.container_statuses and not status.init_container_statuses and status.resources is None:
        return NOTHING
    wanted = {each.name: each.resources.requests for each in (*spec.init_containers, *spec.containers)}
    statuses = (*status.init_container_statuses, *status.container_statuses)
    found: dict[str, ContainerStatus | PodStatus] = {
        each.name: each for each in statuses if each.name in wanted and _differs(each, wanted[each.name])
    }
    if spec.resources is not None and spec.resources.requests and _differs(status, spec.resources.requests):
        found[WHOLE] = status
    return found


def _differs(status: ContainerStatus | PodStatus, wanted: Mapping[str, str]) -> bool:
    if status.resources is None:
        return False
    return any(found and found != wanted for found in (status.resources.requests, status.allocated_resources))


def _is_infeasible(pod: Pod) -> bool:
    """The node has refused the change for good."""
    return any(each.type == "PodResizePending" and each.reason == "Infeasible" for each in pod.status.conditions)


def _requests(name: str, wanted: Mapping[str, str], running: Running, *, refused: bool) -> Amounts:
    asked = amounts(wanted)
    status = running.get(name)
    if status is not None and status.resources is not None:
        has = amounts(status.resources.requests)
        _raise(has, amounts(status.allocated_resources))
        if refused:
            asked = has
        else:
            _raise(asked, has)
    return asked


def pod_requests(pod: Pod, defaults: Mapping[str, int] | None = None, running: Running = NOTHING) -> Amounts:
    """The resources a node must have free; `defaults` stand in for what a container does not say."""
    spec = pod.spec
    refused = bool(running) and _is_infeasible(pod)

    def of(container: Container) -> Amounts:
        return {**(defaults or {}), **_requests(container.name, container.resources.requests, running, refused=refused)}

    total: Amounts = {}
    for container in spec.containers:
        add(total, of(container))
    if spec.init_containers:
        _add_init_containers(total, pod, of)
    if spec.resources is not None:
        # Only cpu, memory and huge pages can be asked for as a pod.
        total.update(_requests(WHOLE, spec.resources.requests, running, refused=refused))
    add(total, amounts(spec.overhead))
    return total


def _add_init_containers(total: Amounts, pod: Pod, of: Callable[[Container], Amounts]) -> None:
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        requests = of(container)
        if container.restart_policy == "Always":
            add(total, requests)
            add(sidecars, requests)
            _raise(peak, sidecars)
        else:
            add(requests, sidecars)
            _raise(peak, requests)
    _raise(total, peak)
