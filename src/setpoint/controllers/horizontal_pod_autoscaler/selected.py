"""Which pods each autoscaler's target selects, so that two autoscalers on the same pods are seen."""

from __future__ import annotations

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.types import core_v1
from setpoint.client.store import Store
from setpoint.controllers.horizontal_pod_autoscaler.plan import Selected


class Selections:
    """The selectors that autoscalers were last seen with, by key."""

    def __init__(self, pods: Store[core_v1.Pod]) -> None:
        self._pods = pods
        self._selectors: dict[str, LabelSelector] = {}

    def forget(self, key: str) -> None:
        self._selectors.pop(key, None)

    def of(self, key: str, namespace: str, selector: LabelSelector) -> Selected:
        """Note the selector; the pods that it finds, and all autoscalers that have pods among them."""
        self._selectors[key] = selector
        pods = tuple(pod for pod in self._pods.list(namespace) if selector.matches(pod.metadata.labels or {}))
        near = [(each, other) for each, other in self._selectors.items() if each.partition("/")[0] == namespace]
        found = sorted(
            (namespace, each.partition("/")[2])
            for each, other in near
            if any(other.matches(pod.metadata.labels or {}) for pod in pods)
        )
        return Selected(selector, pods, tuple(found))
