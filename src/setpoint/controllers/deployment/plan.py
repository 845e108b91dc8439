"""What a Deployment's pass reads and what it decides to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.deployment import revisions
from setpoint.controllers.deployment.replica_sets import replicas
from setpoint.controllers.deployment.rollback import Rollback
from setpoint.controllers.deployment.status import Status


class Observed(Struct, frozen=True):
    """What the caches show: the Deployment's ReplicaSets and its namespace's orphans, and the pods of its own ReplicaSets.

    `pods` matter to strategy Recreate alone, by the uid of their ReplicaSet. `behind`: the cache lacks something that this
    controller wrote to the ReplicaSets, so that adding them up would mislead.
    """

    deployment: apps_v1.Deployment
    replica_sets: Sequence[apps_v1.ReplicaSet]
    pods: Mapping[str, Sequence[core_v1.Pod]]
    now: float
    behind: bool = False


class Create(Struct, frozen=True):
    """Make the new ReplicaSet. If its name is taken by another version, the collision count goes up instead."""

    replica_set: apps_v1.ReplicaSet


class Update(Struct, frozen=True):
    """Change a ReplicaSet that is still as it was observed; `replicas` None leaves them.

    `former` is the size that an earlier step gave it, if one did.
    """

    replica_set: apps_v1.ReplicaSet
    annotations: Mapping[str, str] = field(default_factory=dict)
    replicas: int | None = None
    min_ready_seconds: int | None = None
    former: int | None = None


class Delete(Struct, frozen=True):
    """Forget an old version."""

    replica_set: apps_v1.ReplicaSet


Step = Create | Update | Delete


class Plan(Struct, frozen=True):
    """Writes in their order: claims, steps, status, rollback.

    `revision` is the Deployment's new revision annotation, if it changes.
    """

    deployment: apps_v1.Deployment
    status: Status
    adopt: tuple[apps_v1.ReplicaSet, ...] = ()
    release: tuple[apps_v1.ReplicaSet, ...] = ()
    steps: tuple[Step, ...] = ()
    revision: str | None = None
    requeue_after: float | None = None
    selects_everything: bool = False
    rollback: Rollback | None = None

    @property
    def writes_status(self) -> bool:
        return self.revision is not None or self.status != self.deployment.status

    @property
    def idle(self) -> bool:
        work = (self.adopt, self.release, self.steps, self.writes_status, self.requeue_after, self.rollback)
        return not any(work)


class Draft:
    """A plan in the making: the steps so far, and the status as they leave it."""

    def __init__(self, observed: Observed) -> None:
        self.deployment = observed.deployment
        self.now = observed.now
        self.former: Status = observed.deployment.status
        self.steps: list[Step] = []
        self.revision: str | None = None

    def scale(self, replica_set: apps_v1.ReplicaSet, count: int) -> bool:
        """Ask for `count` replicas; tell whether that changes anything (annotations that go with it do not count)."""
        wanted = revisions.replica_annotations(self.deployment)
        present = replica_set.metadata.annotations
        changes = {key: value for key, value in wanted.items() if present.get(key) != value}
        resized = count != replicas(replica_set)
        if resized or changes:
            self.update(Update(replica_set, changes, count if resized else None))
        return resized

    def update(self, step: Update) -> None:
        """Add a change; two of one ReplicaSet become one, since after the first the observed version is no longer there."""
        for index, other in enumerate(self.steps):
            if isinstance(other, Update) and other.replica_set is step.replica_set:
                self.steps[index] = Update(
                    step.replica_set,
                    {**other.annotations, **step.annotations},
                    other.replicas if step.replicas is None else step.replicas,
                    other.min_ready_seconds if step.min_ready_seconds is None else step.min_ready_seconds,
                )
                return
        self.steps.append(step)

    def scale_if_needed(self, replica_set: apps_v1.ReplicaSet, count: int) -> bool:
        """As `scale`, but annotations alone are no reason to write."""
        return count != replicas(replica_set) and self.scale(replica_set, count)

    def rescale(self, replica_set: apps_v1.ReplicaSet, former: int, count: int) -> None:
        """Ask for another size of a ReplicaSet that a step before leaves at `former`."""
        self.steps.append(Update(replica_set, replicas=count, former=former))

    def set_revision(self, revision: str) -> None:
        """Let the Deployment carry its new ReplicaSet's revision."""
        if revision and self.deployment.metadata.annotations.get(revisions.REVISION) != revision:
            self.revision = revision

    def set_condition(self, listed: tuple[apps_v1.DeploymentCondition, ...]) -> None:
        self.former = msgspec.structs.replace(self.former, conditions=listed)
