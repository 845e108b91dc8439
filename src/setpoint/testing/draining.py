"""What `kubectl drain` does: cordon a node, and evict its pods as far as budgets let them go."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.owners import controller_of
from setpoint.kit.clock import Clock

PAUSE = 5.0
"""Seconds until a refused eviction is tried again."""


async def cordon(client: ClientProtocol, node: str, *, closed: bool = True) -> None:
    await client.patch(core_v1.NODES, node, {"spec": {"unschedulable": closed or None}})


async def drain(client: ClientProtocol, clock: Clock, node: str, tries: int = 60) -> int:
    """Give how many pods are left; those of DaemonSets are left alone and do not count."""
    await cordon(client, node)
    for _ in range(tries):
        pods = (await client.list(core_v1.PODS, field_selector=f"spec.nodeName={node}")).items
        pods = [pod for pod in pods if (ref := controller_of(pod.metadata)) is None or ref.kind != "DaemonSet"]
        if not pods:
            return 0
        for pod in pods:
            await evict(client, pod)
        await clock.sleep(PAUSE)
    return len(pods)


async def evict(client: ClientProtocol, pod: core_v1.Pod) -> bool:
    """False where a budget does not allow it now."""
    meta = pod.metadata
    if meta.deletion_timestamp:
        return True
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta.name, "namespace": meta.namespace}}
    try:
        await client.create_subresource(core_v1.PODS, meta.name, "eviction", body, meta.namespace)
    except StatusError as error:
        if error.code not in {404, 429}:
            raise
        return error.code == 404
    return True
