"""Tells the API server what became of the pods: `/status` patches, only when something changed, until they arrive.

Per pod only the newest status matters. While the server is away statuses wait here, one per pod; when it is back they go out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.client.workqueue import WorkQueue
from setpoint.kit import logs
from setpoint.kit.clock import Clock

_LINGER = 0.1  # seconds that a pending pod's status waits: most are running by then, and one patch tells all
log = logs.get_logger("node.status")


class _Entry(Struct):
    namespace: str
    name: str
    wanted: Mapping[str, Any] | None = None
    sent: Mapping[str, Any] | None = None
    version: int = 0  # the pod's resourceVersion that `sent` made
    delete: bool = False


class StatusManager:
    """`set` and `delete` return at once; `run` (any number of them at a time) sends."""

    def __init__(self, client: ClientProtocol, clock: Clock) -> None:
        self._client = client
        self._queue: WorkQueue[str] = WorkQueue(clock, "node-status", base_delay=0.1, max_delay=5.0)
        self._entries: dict[str, _Entry] = {}
        self.on_gone: Callable[[str], None] = lambda _: None

    def set(self, uid: str, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """The pod's status is this now."""
        entry = self._entries.setdefault(uid, _Entry(namespace, name))
        if status != entry.wanted:
            entry.wanted = status
            if status != entry.sent and status.get("phase") == "Pending":
                self._queue.add_after(uid, _LINGER)
            elif status != entry.sent:
                self._queue.add(uid)

    def seen(self, pod: Pod) -> None:
        """The pod as a watch shows it: where another has written conditions that are this node's to tell, they are told again.

        The node life cycle controller makes pods of a silent node not ready; nobody but the node can take that back. As kubelet's
        needsReconcile.
        """
        entry = self._entries.get(pod.metadata.uid)
        if entry is None or entry.sent is None or entry.sent != entry.wanted or _version(pod) <= entry.version:
            return
        known = {condition.type: condition.status for condition in pod.status.conditions}
        if any(known.get(told["type"]) != told["status"] for told in entry.sent.get("conditions", ())):
            entry.sent = None
            self._queue.add(pod.metadata.uid)

    def delete(self, uid: str, namespace: str, name: str) -> None:
        """Remove the API object (grace 0) once its last status is told."""
        self._entries.setdefault(uid, _Entry(namespace, name)).delete = True
        self._queue.add(uid)

    def forget(self, uid: str) -> None:
        """The pod is gone; nothing more is told of it."""
        self._entries.pop(uid, None)

    @property
    def waiting(self) -> int:
        """Pods whose newest status has not arrived yet."""
        return sum(entry.wanted != entry.sent or entry.delete for entry in self._entries.values())

    async def run(self) -> None:
        """Send for ever. Cancelled in the middle of a patch, the patch's outcome is unknown and it is sent again by the next
        run.
        """
        while True:
            uid = await self._queue.get()
            try:
                await self._send(uid)
                self._queue.forget(uid)
            except TransportError:
                self._queue.add_backoff(uid)
            except StatusError as error:
                self._refused(uid, error)
            finally:
                self._queue.done(uid)

    def _refused(self, uid: str, error: StatusError) -> None:
        if error.code == 404 or (error.code == 409 and "uid" in error.message.lower()):
            self._entries.pop(uid, None)
            self.on_gone(uid)
            return
        log.warning("status refused", pod=uid, error=error.message, code=error.code)
        self._queue.add_backoff(uid)

    async def _send(self, uid: str) -> None:
        entry = self._entries.get(uid)
        if entry is None:
            return
        wanted = entry.wanted
        if wanted is not None and wanted != entry.sent:
            body = {"metadata": {"uid": uid}, "status": wanted}
            pod = await self._client.patch(PODS, entry.name, body, entry.namespace, kind="strategic", subresource="status")
            entry.sent, entry.version = wanted, _version(pod)
        if entry.delete and uid in self._entries:
            await self._client.delete(PODS, entry.name, entry.namespace, grace_seconds=0, uid=uid)
            entry.delete = False


def _version(pod: Pod) -> int:
    """The resourceVersion as a number, to tell later states from earlier ones; 0 where it is none."""
    text = pod.metadata.resource_version
    return int(text) if text.isdecimal() else 0
