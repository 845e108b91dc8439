"""Pods: their word for what their containers do.

Source: Kubernetes `pkg/printers/internalversion/printers.go` (printPod).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Object
from setpoint.registry.tables.printing import AGE, NAME, NONE, age, column, condition, containers, holds, labels, name, since
from setpoint.registry.tables.printing import CONTAINERS as _CONTAINERS
from setpoint.registry.tables.printing import IMAGES as _IMAGES

_DONE = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class _Restarts(Struct):
    """How often containers were restarted, and when the last of them ended before."""

    number: int = 0
    last: str = ""

    def count(self, status: Mapping[str, Any]) -> None:
        self.number += status.get("restartCount", 0)
        finished = ((status.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        self.last = max(self.last, finished)


class _Summary(Struct):
    """What the containers' statuses add up to."""

    reason: str
    ready: int = 0
    restarts: _Restarts = field(default_factory=_Restarts)
    sidecars: set[str] = field(default_factory=set)
    sidecar_restarts: _Restarts = field(default_factory=_Restarts)


def _ended(terminated: Mapping[str, Any]) -> str:
    """The word for a container that has ended."""
    if terminated.get("reason"):
        return str(terminated["reason"])
    signal = terminated.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"


def _initial(summary: _Summary, status: Mapping[str, Any], index: int, total: int) -> str | None:
    """The pod's word while this init container has not done its part; None once it has."""
    state = status.get("state") or {}
    terminated, waiting = state.get("terminated"), state.get("waiting") or {}
    if terminated is not None and not terminated.get("exitCode"):
        return None
    if status.get("name") in summary.sidecars and status.get("started"):
        summary.ready += bool(status.get("ready"))
        return None
    if terminated is not None:
        return f"Init:{_ended(terminated)}"
    if waiting.get("reason", "PodInitializing") not in ("", "PodInitializing"):
        return f"Init:{waiting['reason']}"
    return f"Init:{index}/{total}"


def _initialising(pod: Object, summary: _Summary) -> bool:
    """Go through the init containers up to the first that is still to finish; whether there is one."""
    total = len(pod["spec"].get("initContainers") or ())
    for index, status in enumerate((pod.get("status") or {}).get("initContainerStatuses") or ()):
        summary.restarts.count(status)
        if status.get("name") in summary.sidecars:
            summary.sidecar_restarts.count(status)
        word = _initial(summary, status, index, total)
        if word is not None:
            summary.reason = word
            return True
    return False


def _running(pod: Object, summary: _Summary) -> None:
    """Go through the containers, the last first: the first one's word wins."""
    summary.restarts = summary.sidecar_restarts
    running = False
    for status in reversed((pod.get("status") or {}).get("containerStatuses") or ()):
        summary.restarts.count(status)
        state = status.get("state") or {}
        waiting, terminated = (state.get("waiting") or {}).get("reason"), state.get("terminated")
        if waiting:
            summary.reason = waiting
        elif terminated is not None:
            summary.reason = _ended(terminated)
        elif status.get("ready") and state.get("running") is not None:
            running = True
            summary.ready += 1
    if running and summary.reason == "Completed":
        summary.reason = "Running" if holds(pod, "Ready") else "NotReady"


def summarise(pod: Object) -> _Summary:
    """The pod's word, ready containers and restarts."""
    status = pod.get("status") or {}
    summary = _Summary(status.get("reason") or status.get("phase") or "")
    if (condition(pod, "PodScheduled") or {}).get("reason") == "SchedulingGated":
        summary.reason = "SchedulingGated"
    initial = pod["spec"].get("initContainers") or ()
    summary.sidecars = {one["name"] for one in initial if one.get("restartPolicy") == "Always"}
    if not _initialising(pod, summary) or holds(pod, "Initialized"):
        _running(pod, summary)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif status.get("phase") not in _DONE:
            summary.reason = "Terminating"
    return summary


def _gates(pod: Object) -> str:
    gates = pod["spec"].get("readinessGates") or ()
    met = sum(holds(pod, gate.get("conditionType", "")) for gate in gates)
    return f"{met}/{len(gates)}" if gates else NONE


def _cells(pod: Object, now: float) -> list[Any]:
    spec, status = pod["spec"], pod.get("status") or {}
    summary = summarise(pod)
    restarts = str(summary.restarts.number)
    if summary.restarts.number and summary.restarts.last:
        restarts += f" ({since(summary.restarts.last, now)} ago)"
    ips = status.get("podIPs") or ()
    return [
        name(pod),
        f"{summary.ready}/{len(spec.get('containers') or ()) + len(summary.sidecars)}",
        summary.reason,
        restarts,
        age(pod, now),
        (ips[0].get("ip") if ips else status.get("podIP")) or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(pod),
    ]


def _conditions(pod: Object) -> list[dict[str, str]]:
    """A pod that is done is marked, so that clients can leave it out."""
    phase = (pod.get("status") or {}).get("phase", "")
    if phase not in _DONE:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _DONE[phase]}]


POD = Table(
    (
        NAME,
        column("Ready", text="The aggregate readiness state of this pod for accepting traffic."),
        column("Status", text="The aggregate status of the containers in this pod."),
        column(
            "Restarts",
            text="The number of times the containers in this pod have been restarted and when the last container in this pod has "
            "restarted.",
        ),
        AGE,
        column("IP", "core.v1.PodStatus.podIP", wide=True),
        column("Node", "core.v1.PodSpec.nodeName", wide=True),
        column("Nominated Node", "core.v1.PodStatus.nominatedNodeName", wide=True),
        column("Readiness Gates", "core.v1.PodSpec.readinessGates", wide=True),
    ),
    _cells,
    _conditions,
)


def _template_cells(obj: Object, _now: float) -> list[Any]:
    template = obj.get("template") or {}
    return [name(obj), *containers(template), labels((template.get("metadata") or {}).get("labels"))]


POD_TEMPLATE = Table(
    (
        NAME,
        column("Containers", text=_CONTAINERS.description),
        column("Images", text=_IMAGES.description),
        column("Pod Labels", text="The labels for the pod template."),
    ),
    _template_cells,
)
