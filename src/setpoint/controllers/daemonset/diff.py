"""The decision: which nodes get a pod, which pods go. Pure and synchronous.

As `manage` and `podsShouldBeOnNode` in `pkg/controller/daemon/daemon_controller.go`; an update goes on only when each
node has what it should have, of any version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from setpoint.api.types import core_v1
from setpoint.client.expectations import TIMEOUT
from setpoint.controllers import claims
from setpoint.controllers.daemonset import status, versions
from setpoint.controllers.daemonset.nodes import places, target_of
from setpoint.controllers.daemonset.plan import Observed, Plan
from setpoint.controllers.daemonset.rollout import Rollout, allows_surge
from setpoint.controllers.daemonset.versions import Versions
from setpoint.controllers.event import Event
from setpoint.controllers.history import REVISION_LABEL
from setpoint.controllers.owned_pods.state import is_available, is_ready, is_terminal, next_availability

BURST = 250


def diff(observed: Observed) -> Plan:
    """What it takes to get from the observed pods to one on each node that should have one."""
    daemon_set = observed.daemon_set
    if daemon_set.metadata.deletion_timestamp:
        return Plan(daemon_set, daemon_set.status)
    selector = claims.selector_of(daemon_set.spec.selector)
    revisions = claims.sort(daemon_set, selector, observed.revisions)
    pods = claims.sort(daemon_set, selector, observed.pods)
    chosen = versions.choose(daemon_set, revisions.owned)
    draft = Draft(observed, chosen, pods.owned)
    counted = status.calculate(daemon_set, draft.places, draft.by_node, chosen.hash, observed.now)
    plan = Plan(
        daemon_set,
        counted,
        chosen.hash,
        pods.adopt,
        pods.release,
        revisions.adopt,
        revisions.release,
        chosen.step,
        requeue_after=_look_again(observed, pods.owned),
    )
    if not observed.trusted:
        return plan
    draft.decide()
    waits = [wait for wait in (plan.requeue_after, draft.wait) if wait is not None]
    return msgspec.structs.replace(
        plan,
        status=msgspec.structs.replace(counted, observed_generation=daemon_set.metadata.generation),
        events=tuple(draft.events),
        failed=tuple(draft.failed),
        create=tuple(draft.create[:BURST]),
        delete=tuple(draft.delete[:BURST]),
        forget=(*chosen.duplicates, *versions.superfluous(daemon_set, chosen, pods.owned)),
        requeue_after=min(waits, default=None),
    )


def _look_again(observed: Observed, pods: Sequence[core_v1.Pod]) -> float | None:
    """When the next pod becomes available, one that the status does not count yet (of a surge) included.

    Kubernetes looks at those once, when it sees them become ready, and misses what it slept through.
    """
    wait = next_availability(pods, observed.daemon_set.spec.min_ready_seconds, observed.now)
    if observed.trusted:
        return wait
    return TIMEOUT + 1 if wait is None else min(wait, TIMEOUT + 1)


class Draft:
    """What is decided so far. `by_node` holds the set's pods by the node that they are on or meant for."""

    def __init__(self, observed: Observed, chosen: Versions, pods: Sequence[core_v1.Pod]) -> None:
        self.observed = observed
        self.set = observed.daemon_set
        self.hash = chosen.hash
        self.places = places(self.set, observed.nodes)
        self.by_node: dict[str, list[core_v1.Pod]] = defaultdict(list)
        for pod in pods:
            # A pod that has ended and is being deleted (a finalizer holds it) is nobody's business any more.
            if not (is_terminal(pod) and pod.metadata.deletion_timestamp) and (node := target_of(pod)):
                self.by_node[node].append(pod)
        self.create: list[str] = []
        self.delete: list[core_v1.Pod] = []
        self.events: list[Event] = []
        self.failed: list[str] = []
        self.wait: float | None = None

    def decide(self) -> None:
        for name, (run, go_on) in self.places.items():
            self._node(name, run=run, go_on=go_on)
        for name, pods in self.by_node.items():
            if name not in self.places:  # never scheduled: nobody else would delete them
                self.delete += [pod for pod in pods if not pod.spec.node_name and not pod.metadata.deletion_timestamp]
        if not self.create and not self.delete and self.set.spec.update_strategy.type == "RollingUpdate":
            rollout = Rollout(self.set, self.places, self.by_node, self.hash, self.observed.now)
            self.create, self.delete = rollout.decide()

    def _node(self, name: str, *, run: bool, go_on: bool) -> None:
        pods = self.by_node.get(name)
        if run and not pods:
            self.create.append(name)
        elif go_on and pods:
            running = self._without_ended(name, pods)
            if not allows_surge(self.set):
                self.delete += running[1:]
            elif not running and run:
                self.create.append(name)
            elif len(running) > 1:
                self._surplus(running)
        elif pods:
            self.delete += [pod for pod in pods if not pod.metadata.deletion_timestamp]

    def _without_ended(self, node: str, pods: Sequence[core_v1.Pod]) -> list[core_v1.Pod]:
        """The pods that run or may run, oldest first. Those that ended are deleted, failed ones ever more slowly."""
        running = []
        for pod in pods:
            if pod.metadata.deletion_timestamp:
                continue
            found = f"daemon pod {pod.metadata.namespace}/{pod.metadata.name} on node {node}"
            if pod.status.phase == "Failed":
                if wait := self.observed.backoff.get(node):
                    self.wait = wait if self.wait is None else min(wait, self.wait)
                    continue
                self._tell("Warning", "FailedDaemonPod", f"Found failed {found}, will try to kill it")
                self.failed.append(node)
                self.delete.append(pod)
            elif pod.status.phase == "Succeeded":
                self._tell("Normal", "SucceededDaemonPod", f"Found succeeded {found}, will try to delete it")
                self.delete.append(pod)
            else:
                running.append(pod)
        return sorted(running, key=status.oldest_first)

    def _tell(self, kind: str, reason: str, message: str) -> None:
        self.events.append(Event(kind, reason, message))

    def _surplus(self, running: Sequence[core_v1.Pod]) -> None:
        """Two may be there while the newer gets ready and the older is: all others go."""
        new = [pod for pod in running if pod.metadata.labels.get(REVISION_LABEL) == self.hash]
        old = [pod for pod in running if pod not in new]
        self.delete += [*new[1:], *old[1:]]
        if new and old:
            available = is_available(new[0], self.set.spec.min_ready_seconds, self.observed.now)
            if available or not is_ready(old[0]):
                self.delete.append(old[0])
