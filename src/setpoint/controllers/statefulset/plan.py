"""What is observed of a StatefulSet, and what is to be written for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers import revision_control

Claims = Mapping[str, core_v1.PersistentVolumeClaim]


class Observed(Struct, frozen=True):
    """`pods` and `revisions` are the set's own and the orphans of its namespace; `claims` by name, as far as they exist."""

    stateful_set: apps_v1.StatefulSet
    pods: Sequence[core_v1.Pod]
    revisions: Sequence[apps_v1.ControllerRevision]
    claims: Claims
    now: float


class Storage(Struct, frozen=True):
    """What to do about a pod's claims: `create` bodies; `owners` new owner references; `refused` why it cannot be done."""

    create: tuple[Mapping[str, Any], ...] = ()
    owners: tuple[tuple[core_v1.PersistentVolumeClaim, Sequence[Mapping[str, Any]]], ...] = ()
    conflicting: tuple[str, ...] = ()
    refused: str = ""

    @property
    def idle(self) -> bool:
        return not (self.create or self.owners or self.refused)


class CreatePod(Struct, frozen=True):
    """Make the claims, then the pod."""

    name: str
    body: Mapping[str, Any]
    storage: Storage


class DeletePod(Struct, frozen=True):
    """Unless another pod has its name by now."""

    pod: core_v1.Pod


class UpdatePod(Struct, frozen=True):
    """Make the pod what it should be; `patch` None: its claims only. `told`: with an event."""

    pod: core_v1.Pod
    storage: Storage
    patch: Mapping[str, Any] | None = None
    told: bool = False


Step = CreatePod | DeletePod | UpdatePod


class Plan(Struct, frozen=True):
    """Stages one after the other, the steps of a stage all at once; what fails ends them. `status` holds if nothing does."""

    stateful_set: apps_v1.StatefulSet
    status: apps_v1.StatefulSetStatus
    adopt: tuple[core_v1.Pod, ...] = ()
    release: tuple[core_v1.Pod, ...] = ()
    adopt_revisions: tuple[apps_v1.ControllerRevision, ...] = ()
    revision: revision_control.Step | None = None
    stages: tuple[tuple[Step, ...], ...] = ()
    forget: tuple[apps_v1.ControllerRevision, ...] = ()
    requeue_after: float | None = None

    @property
    def idle(self) -> bool:
        work = (self.adopt, self.release, self.adopt_revisions, self.revision, self.stages, self.forget, self.requeue_after)
        return not any(work) and self.status == self.stateful_set.status
