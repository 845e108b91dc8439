"""Pods that were promised a node once others have left it: they count there for everyone who is not more important."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.pods import PodInfo, priority


class Nominator:
    """Who is promised which node."""

    def __init__(self, changed: Callable[[str], None] = lambda _: None) -> None:
        """`changed` is told of the nodes whose promises change."""
        self._changed = changed
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._node_of)

    def nominate(self, info: PodInfo, node: str) -> None:
        self.drop(info.key)
        self._by_node.setdefault(node, {})[info.key] = info
        self._node_of[info.key] = node
        self._changed(node)

    def drop(self, key: str) -> None:
        node = self._node_of.pop(key, None)
        if node is not None:
            pods = self._by_node[node]
            del pods[key]
            if not pods:
                del self._by_node[node]
            self._changed(node)

    def node_of(self, key: str) -> str:
        """The promised node, "" if none is."""
        return self._node_of.get(key, "")

    def any_on(self, node: str) -> bool:
        return node in self._by_node

    def on(self, node: str) -> Sequence[PodInfo]:
        return [*self._by_node.get(node, {}).values()]

    def ahead_of(self, pod: Pod, key: str, node: str) -> Sequence[PodInfo]:
        """Those promised `node` whom `pod` may not push aside: at least as important, and not itself."""
        promised = self._by_node.get(node)
        if promised is None:
            return ()
        return [info for info in promised.values() if info.key != key and priority(info.pod) >= priority(pod)]
