"""What is observed of a DaemonSet, and what is to be written for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers import revision_control
from setpoint.controllers.event import Event


class Observed(Struct, frozen=True):
    """`pods` and `revisions` are the set's own and the orphans of its namespace.

    `backoff` says for how many seconds more failed pods of a node are left alone; `trusted` that nothing is still expected.
    """

    daemon_set: apps_v1.DaemonSet
    pods: Sequence[core_v1.Pod]
    revisions: Sequence[apps_v1.ControllerRevision]
    nodes: Sequence[core_v1.Node]
    backoff: Mapping[str, float]
    trusted: bool
    now: float


class Plan(Struct, frozen=True):
    """`create` are names of nodes. `failed` are nodes whose failed pods go now: their next failure waits longer."""

    daemon_set: apps_v1.DaemonSet
    status: apps_v1.DaemonSetStatus
    hash: str = ""
    adopt: tuple[core_v1.Pod, ...] = ()
    release: tuple[core_v1.Pod, ...] = ()
    adopt_revisions: tuple[apps_v1.ControllerRevision, ...] = ()
    release_revisions: tuple[apps_v1.ControllerRevision, ...] = ()
    revision: revision_control.Step | None = None
    events: tuple[Event, ...] = ()
    failed: tuple[str, ...] = ()
    create: tuple[str, ...] = ()
    delete: tuple[core_v1.Pod, ...] = ()
    forget: tuple[apps_v1.ControllerRevision, ...] = ()
    requeue_after: float | None = None

    @property
    def idle(self) -> bool:
        claims = (self.adopt, self.release, self.adopt_revisions, self.release_revisions, self.revision)
        work = (*claims, self.events, self.create, self.delete, self.forget, self.requeue_after)
        return not any(work) and self.status == self.daemon_set.status
