"""The versions of a DaemonSet. As `constructHistory` and `cleanupHistory` in `pkg/controller/daemon/update.go`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from setpoint.api.machinery.integers import int64
from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers import history
from setpoint.controllers.history import REVISION_LABEL, Revision
from setpoint.controllers.revision_control import CreateRevision, Renumber, Step
from setpoint.controllers.template_hash import template_hash

GENERATION = "deprecated.daemonset.template.generation"
GENERATION_LABEL = "pod-template-generation"


class Versions(Struct, frozen=True):
    """`hash` is what pods of the current version carry; `old` are the revisions of other templates, oldest first."""

    hash: str
    old: tuple[Revision, ...]
    step: Step | None = None
    duplicates: tuple[Revision, ...] = ()


def choose(daemon_set: apps_v1.DaemonSet, revisions: Sequence[Revision]) -> Versions:
    """Which revision is the current one, and what has to be written for it."""
    data = history.template_patch(daemon_set.spec.template)
    ordered = history.by_number(revisions)
    equal = [each for each in ordered if history.same_data(each.data, data)]
    old = tuple(each for each in ordered if each not in equal)
    number = history.newest_number(old) + 1
    if not equal:
        hash_ = template_hash(daemon_set.spec.template, daemon_set.status.collision_count)
        name = f"{daemon_set.metadata.name}-{hash_}"
        labels = {REVISION_LABEL: hash_}
        return Versions(hash_, old, CreateRevision(history.revision_body(daemon_set, apps_v1.DAEMONSETS, name, labels, number)))
    current = equal[-1]
    step = Renumber(current, number) if current.revision < number else None
    return Versions(label_of(current), old, step, tuple(equal[:-1]))


def label_of(revision: Revision) -> str:
    """The hash by which its pods are known; revisions of old clusters have none but their name."""
    return revision.metadata.labels.get(REVISION_LABEL, revision.metadata.name)


def is_updated(daemon_set: apps_v1.DaemonSet, pod: core_v1.Pod, hash_: str) -> bool:
    """Whether a pod has the current version, by hash or by the older count of generations."""
    labels = pod.metadata.labels
    generation = generation_of(daemon_set)
    return labels.get(REVISION_LABEL) == hash_ or (generation is not None and labels.get(GENERATION_LABEL) == generation)


def generation_of(daemon_set: apps_v1.DaemonSet) -> str | None:
    """The template's generation as a number in decimal, which clients of old versions count; None where there is none."""
    number = int64(daemon_set.metadata.annotations.get(GENERATION, ""))
    return None if number is None else str(number)


def superfluous(daemon_set: apps_v1.DaemonSet, chosen: Versions, pods: Iterable[core_v1.Pod]) -> tuple[Revision, ...]:
    """The oldest revisions that no pod has, as many as go beyond `revisionHistoryLimit`."""
    limit = daemon_set.spec.revision_history_limit
    if limit is None or len(chosen.old) <= limit:
        return ()
    live = {pod.metadata.labels.get(REVISION_LABEL) for pod in pods}
    unused = [each for each in chosen.old if label_of(each) not in live]
    return tuple(unused[: len(chosen.old) - limit])
