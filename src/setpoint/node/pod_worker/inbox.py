"""What waits for a pod's worker, and what becomes of it when the worker is slow.

Of the pod's own updates only the latest waits, at the place of the first: each state of a pod has what the ones before it had,
a deletion and its shorter grace included, so the states between are of no use. Everything else is kept, in its order, and is
little: the answers to commands, of which one of a kind is in flight, and ends (of a container, the sandbox, the pod), none of
which may be lost. A pod with CAPACITY of them waiting is a fault of ours, which Full tells.
"""

from __future__ import annotations

from setpoint.kit.channels import Channel
from setpoint.node.pod_worker.messages import Event, PodChanged

CAPACITY = 4096


class Inbox:
    """`post` from anywhere on the loop; one receiver. Once it is closed, what is posted is dropped: nobody works on the pod."""

    def __init__(self) -> None:
        self._events: Channel[Event] = Channel(CAPACITY)
        self._update: PodChanged | None = None  # the latest, while an earlier one has its place among the events

    def post(self, event: Event) -> None:
        """Leave an event; raises Full."""
        if self.closed:
            return
        if isinstance(event, PodChanged):
            waits = self._update is not None
            self._update = event
            if waits:
                return
        self._events.send_nowait(event)

    async def receive(self) -> Event:
        """Take the oldest event. Cancelled, it loses none."""
        event = await self._events.receive()
        if isinstance(event, PodChanged) and self._update is not None:
            event, self._update = self._update, None
        return event

    def close(self) -> None:
        self._events.close()

    @property
    def closed(self) -> bool:
        return self._events.closed
