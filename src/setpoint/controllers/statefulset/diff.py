"""The decision: which pod of a StatefulSet is made, replaced or removed next. Pure and synchronous.

As `updateStatefulSet` in `pkg/controller/statefulset/stateful_set_control.go`. Unless `podManagementPolicy` is Parallel,
the first pod in the order of ordinals that is not available holds up all that come after it; pods that are too many go
from the highest ordinal down, one at a time; and only when all this is in order does an update replace pods, again from
the highest down. What is stuck stays stuck: an update that never gets ready is not taken back by another template, only
by deleting its pod.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from setpoint.api.types import core_v1
from setpoint.controllers import claims, history
from setpoint.controllers.statefulset import health, retention, status, versions
from setpoint.controllers.statefulset.identity import (
    claim_body,
    claim_name,
    identity_labels,
    identity_matches,
    is_member,
    new_pod,
    ordinal_of,
    ordinals,
    pod_name,
    revision_of,
    storage_matches,
    volumes_of,
)
from setpoint.controllers.statefulset.plan import CreatePod, DeletePod, Observed, Plan, Step, Storage, UpdatePod
from setpoint.controllers.statefulset.versions import Versions


def diff(observed: Observed) -> Plan:
    """What it takes to get from the observed pods to those that should be, as far as it may be done now."""
    stateful_set = observed.stateful_set
    selector = claims.selector_of(stateful_set.spec.selector)
    revisions = claims.sort(stateful_set, selector, observed.revisions)
    history_ = history.by_number(revisions.owned)
    chosen = versions.choose(stateful_set, history_)
    claim = claims.sort(stateful_set, selector, observed.pods, lambda pod: is_member(stateful_set, pod))
    draft = _Draft(observed, chosen, claim.owned)
    if not stateful_set.metadata.deletion_timestamp:
        draft.decide()
    counted = status.completed(stateful_set, draft.status)
    late = stateful_set.spec.min_ready_seconds and counted.available_replicas < counted.ready_replicas
    return Plan(
        stateful_set,
        counted,
        claim.adopt,
        claim.release,
        revisions.adopt,
        None if stateful_set.metadata.deletion_timestamp else chosen.step,
        tuple(stage for stage in draft.stages if stage),
        versions.superfluous(stateful_set, history_, chosen, claim.owned),
        stateful_set.spec.min_ready_seconds if late else None,
    )


class _Draft:
    """The stages as they are decided. `pods` are claimed; those of no ordinal are ignored."""

    def __init__(self, observed: Observed, chosen: Versions, pods: Sequence[core_v1.Pod]) -> None:
        self.set = observed.stateful_set
        self.claims = observed.claims
        self.now = observed.now
        self.min_ready = self.set.spec.min_ready_seconds
        self.versions = chosen
        self.parallel = self.set.spec.pod_management_policy == "Parallel"
        wanted = ordinals(self.set)
        there = {ordinal_of(pod): pod for pod in pods}
        self.replicas = {ordinal: there.get(ordinal) for ordinal in wanted}
        self.condemned = [there[ordinal] for ordinal in sorted(there, reverse=True) if ordinal not in wanted]
        self.status = status.calculate(self.set, chosen, pods, self.now)
        self.stages: list[tuple[Step, ...]] = []

    def decide(self) -> None:
        if self._living() and self._condemned_claims() and self._condemned():
            self._update()

    def _put(self, step: Step) -> None:
        """Each step waits for the former unless pods are managed in parallel."""
        if self.parallel and self.stages:
            self.stages[-1] += (step,)
        else:
            self.stages.append((step,))

    def _begin(self) -> None:
        if self.parallel and self.stages and self.stages[-1]:
            self.stages.append(())

    # -- the pods that should be

    def _living(self) -> bool:
        """Whether all is in order that comes before the removal of pods."""
        return all(self._replica(ordinal, pod) for ordinal, pod in self.replicas.items())

    def _replica(self, ordinal: int, pod: core_v1.Pod | None) -> bool:
        """Deal with one ordinal; False if what comes after it has to wait."""
        if pod is None:
            return self._create(ordinal) or self.parallel
        if health.has_ended(pod):
            if not health.is_terminating(pod):
                self._put(DeletePod(pod))
            return self.parallel
        if pod.status.phase == "Pending" and not (storage := self._missing_claims(ordinal)).idle:
            self._put(UpdatePod(pod, storage))
        if not self.parallel and not health.is_healthy(pod, self.min_ready, self.now):
            return False
        self._correct(ordinal, pod)
        return True

    def _create(self, ordinal: int) -> bool:
        name = pod_name(self.set, ordinal)
        storage = self._storage(ordinal, name)
        stale = any(
            retention.is_stale(self.set, name, known)
            for template in self.set.spec.volume_claim_templates
            if (known := self.claims.get(claim_name(self.set, template.metadata.name, ordinal))) is not None
        )
        if not stale:
            old = versions.needs_current(self.set, ordinal)
            template = self.versions.current_template if old else self.set.spec.template
            revision = self.versions.current if old else self.versions.update
            self._put(CreatePod(name, new_pod(self.set, template, ordinal, revision), storage))
        return False

    def _missing_claims(self, ordinal: int) -> Storage:
        storage = self._storage(ordinal, pod_name(self.set, ordinal))
        return Storage(storage.create, refused=storage.refused)

    def _storage(self, ordinal: int, name: str, pod: core_v1.Pod | None = None) -> Storage:
        """What a pod's claims need."""
        create, owners, conflicting, refused = [], [], [], []
        first = retention.first_owners(self.set)
        for template in self.set.spec.volume_claim_templates:
            known = self.claims.get(claim_name(self.set, template.metadata.name, ordinal))
            if known is None:
                body = claim_body(self.set, template, ordinal)
                if first:
                    body["metadata"]["ownerReferences"] = first
                create.append(body)
                continue
            if known.metadata.deletion_timestamp:
                refused.append(f"pvc {known.metadata.name} is being deleted")
            if (wanted := retention.wanted_owners(self.set, name, pod, known)) is not None:
                owners.append((known, wanted))
                if retention.conflicts(self.set, pod, known):
                    conflicting.append(known.metadata.name)
        return Storage(tuple(create), tuple(owners), tuple(conflicting), _aggregate(refused))

    def _correct(self, ordinal: int, pod: core_v1.Pod) -> None:
        """Give a pod the identity, the storage and the owners of its claims that it should have."""
        storage = self._storage(ordinal, pod.metadata.name, pod)
        patch: dict[str, object] = {}
        if not identity_matches(pod):
            patch["metadata"] = {"labels": identity_labels(pod.metadata.name)}
        if not storage_matches(self.set, pod):
            volumes = msgspec.to_builtins(pod.spec.volumes)
            patch["spec"] = {"volumes": volumes_of(self.set, ordinal, volumes)}
        else:
            storage = Storage(owners=storage.owners, conflicting=storage.conflicting)
        if patch or not storage.idle:
            self._put(UpdatePod(pod, storage, patch or None, told=True))

    # -- the pods that are too many

    def _condemned_claims(self) -> bool:
        self._begin()
        for pod in self.condemned:
            storage = self._storage(ordinal_of(pod), pod.metadata.name, pod)
            if storage.owners:
                self._put(UpdatePod(pod, Storage(owners=storage.owners, conflicting=storage.conflicting)))
        return True

    def _condemned(self) -> bool:
        """The highest ordinal goes first; whether the update may go on."""
        self._begin()
        unhealthy = self._first_unhealthy()
        for pod in self.condemned:
            if self.parallel:
                if not health.is_terminating(pod):
                    self._put(DeletePod(pod))
                continue
            ready = health.is_running_and_available(pod, self.min_ready, self.now)
            if not health.is_terminating(pod) and (ready or pod is unhealthy):
                self._put(DeletePod(pod))
            return False
        return True

    def _first_unhealthy(self) -> core_v1.Pod | None:
        pods = [*self.replicas.values(), *reversed(self.condemned)]
        return next((pod for pod in pods if pod is None or not self._healthy(pod)), None)

    def _healthy(self, pod: core_v1.Pod | None) -> bool:
        return pod is not None and health.is_healthy(pod, self.min_ready, self.now)

    # -- the update

    def _update(self) -> None:
        if self.set.spec.update_strategy.type == "OnDelete":
            return
        self._begin()
        budget = versions.max_unavailable(self.set)
        targets = [*self.replicas.values()][versions.partition(self.set) :]
        if budget is None:
            self._replace_next(targets)
        else:
            self._replace_several(targets, budget)

    def _outdated(self, pod: core_v1.Pod | None) -> bool:
        return pod is not None and revision_of(pod) != self.versions.update and not health.is_terminating(pod)

    def _replace_next(self, targets: Sequence[core_v1.Pod | None]) -> None:
        """The highest ordinal that has another version, if all above it are available."""
        for pod in reversed(targets):
            if pod is not None and self._outdated(pod):
                self._take_down(pod)
                return
            if not self._healthy(pod):
                return

    def _replace_several(self, targets: Sequence[core_v1.Pod | None], budget: int) -> None:
        """As many as may be unavailable beside those that already are."""
        left = budget - sum(not self._healthy(pod) for pod in self.replicas.values())
        for pod in reversed(targets):
            if left <= 0:
                return
            if pod is not None and self._outdated(pod):
                self._take_down(pod)
                left -= 1

    def _take_down(self, pod: core_v1.Pod) -> None:
        self._put(DeletePod(pod))
        self.status = msgspec.structs.replace(self.status, current_replicas=max(0, self.status.current_replicas - 1))


def _aggregate(errors: Sequence[str]) -> str:
    """As Go's aggregate prints several errors."""
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""
