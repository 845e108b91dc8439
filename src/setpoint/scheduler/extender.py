"""Extenders: HTTP services that filter and rate nodes after the plugins, or bind the pod.

Source: kube-scheduler's `extender.go` and `k8s.io/kube-scheduler/extender/v1`: JSON by POST; field names as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.board import Budget
from setpoint.scheduler.config import ExtenderConfig, seconds_of
from setpoint.scheduler.cycle import Cycle, Found, Placement
from setpoint.scheduler.framework import MAX_SCORE
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Status, failed, unresolvable, unschedulable

MAX_EXTENDER_SCORE = 10
EXTENDER = "Extender"  # stands for a plugin: nobody knows what helps a pod that an extender refused


class ExtenderError(Exception):
    """An extender did not answer, or not as agreed; the pod is tried again later."""


class _Filtered(
    Struct, rename={"node_names": "nodenames", "failed": "failedNodes", "unresolvable": "failedAndUnresolvableNodes"}
):
    """Which nodes are left, and why the others are not."""

    nodes: dict[str, Any] | None = None
    node_names: list[str] | None = None
    failed: Mapping[str, str] | None = None
    unresolvable: Mapping[str, str] | None = None
    error: str = ""


class _Priority(Struct):
    """A node's score, 0 to 10."""

    host: str = ""
    score: int = 0


class Extender:
    """One of them. Cancelling a call leaves the extender with a request that nobody waits for."""

    def __init__(self, config: ExtenderConfig) -> None:
        self._config = config
        self._seconds = seconds_of(config.http_timeout)
        self._managed = frozenset(each.name for each in config.managed_resources)

    @property
    def binds(self) -> bool:
        return bool(self._config.bind_verb)

    @property
    def ignorable(self) -> bool:
        return self._config.ignorable

    def wants(self, pod: Pod) -> bool:
        """The pod asks for something that the extender looks after; without such a list it wants all pods."""
        if not self._managed:
            return True
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        return any(self._managed & {*each.resources.requests, *each.resources.limits} for each in containers)

    async def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> tuple[list[NodeInfo], dict[str, Status]]:
        """The nodes that are left, and the refusals of the others."""
        if not self._config.filter_verb:
            return [*nodes], {}
        answer = _convert(await self._post(self._config.filter_verb, self._arguments(pod, nodes)), _Filtered)
        if answer.error:
            raise ExtenderError(answer.error)
        refusals = {name: unschedulable(reason) for name, reason in (answer.failed or {}).items()}
        refusals |= {name: unresolvable(reason) for name, reason in (answer.unresolvable or {}).items()}
        left = answer.node_names
        if not self._config.node_cache_capable and answer.nodes is not None:
            left = [item["metadata"]["name"] for item in answer.nodes.get("items") or []]
        return ([*nodes] if left is None else [node for node in nodes if node.name in set(left)]), refusals

    async def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> Mapping[str, int]:
        """What the extender adds to the nodes' scores. One that fails adds nothing."""
        if not self._config.prioritize_verb:
            return {}
        try:
            answer = await self._post(self._config.prioritize_verb, self._arguments(pod, nodes))
            scale = self._config.weight * (MAX_SCORE // MAX_EXTENDER_SCORE)
            return {each.host: each.score * scale for each in _convert(answer, list[_Priority])}
        except ExtenderError:
            return {}

    async def bind(self, pod: Pod, node: str) -> Status | None:
        meta = pod.metadata
        body = {"podName": meta.name, "podNamespace": meta.namespace, "podUID": meta.uid, "node": node}
        try:
            answer = await self._post(self._config.bind_verb, body)
        except ExtenderError as error:
            return failed(str(error))
        problem = (answer or {}).get("error")
        return failed(problem) if problem else None

    def _arguments(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, Any]:
        arguments: dict[str, Any] = {"pod": pod, "nodes": None, "nodenames": None}
        if self._config.node_cache_capable:
            arguments["nodenames"] = [node.name for node in nodes]
        else:
            arguments["nodes"] = {"metadata": {}, "items": [node.known for node in nodes]}
        return arguments

    async def _post(self, verb: str, body: Any) -> Any:
        import aiohttp

        url = f"{self._config.url_prefix.rstrip('/')}/{verb}"
        timeout = aiohttp.ClientTimeout(total=self._seconds)
        headers = {"Content-Type": "application/json"}
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(url, data=msgspec.json.encode(body), headers=headers, ssl=self._tls()) as response,
            ):
                if response.status != 200:
                    raise ExtenderError(f"failed {verb} with extender at URL {url}, code {response.status}")
                return msgspec.json.decode(await response.read())
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError) as error:
            raise ExtenderError(f'Post "{url}": {error}') from error

    def _tls(self) -> Any:
        """How the extender's certificate is judged: False not at all, True by the system's authorities."""
        chosen = self._config.tls_config or {}
        if chosen.get("insecure"):
            return False
        if not chosen.get("caFile"):
            return True
        import ssl

        return ssl.create_default_context(cafile=chosen["caFile"])


def _convert(answer: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise ExtenderError(f"an extender's answer cannot be read: {error}") from error


async def run_extended(cycle: Cycle, info: PodInfo, extenders: Sequence[Extender], budget: Budget) -> Placement:
    """A cycle in which extenders have their say: they filter what the plugins left, and add to the scores."""
    found = cycle.find(info, budget)
    for extender in extenders:
        if found.nodes:
            await _filter(found, extender)
    if not found.nodes:
        found.diagnosis.refuse_others()
        raise cycle.no_fit(found)
    extra = [0] * len(found.nodes)
    for extender in extenders:
        scores = await extender.prioritize(info.pod, found.nodes)
        extra = [score + scores.get(node.name, 0) for node, score in zip(found.nodes, extra, strict=True)]
    return cycle.choose(found, extra)


async def _filter(found: Found, extender: Extender) -> None:
    try:
        left, refusals = await extender.filter(found.state.info.pod, found.nodes)
    except ExtenderError:
        if extender.ignorable:
            return
        raise
    for name, status in refusals.items():
        found.diagnosis.refuse(name, status)
    if len(left) != len(found.nodes):
        found.diagnosis.plugins.add(EXTENDER)
    found.nodes = left
