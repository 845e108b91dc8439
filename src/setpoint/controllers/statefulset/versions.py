"""The versions of a StatefulSet: the one its pods have, and the one they are to get.

As `getStatefulSetRevisions` and `truncateHistory` in `stateful_set_control.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers import history
from setpoint.controllers.history import Revision
from setpoint.controllers.revision_control import CreateRevision, Renumber, Step
from setpoint.controllers.statefulset.identity import replicas, revision_of, start


class Versions(Struct, frozen=True):
    """Names of revisions, the template of the current one, and what has to be written for the update revision to exist."""

    current: str
    update: str
    current_template: core_v1.PodTemplateSpec
    step: Step | None = None


def choose(stateful_set: apps_v1.StatefulSet, revisions: Sequence[Revision]) -> Versions:
    """`revisions` oldest first. A set that has no current revision yet begins with the update revision."""
    data = history.template_patch(stateful_set.spec.template)
    equal = [each for each in revisions if history.same_data(each.data, data)]
    step: Step | None = None
    if not equal:
        hash_ = history.revision_hash(data, stateful_set.status.collision_count or 0)
        update = history.revision_name(stateful_set.metadata.name, hash_)
        number = history.newest_number(revisions) + 1
        labels = {history.HASH_LABEL: hash_}
        step = CreateRevision(history.revision_body(stateful_set, apps_v1.STATEFULSETS, update, labels, number))
    elif revisions[-1] in equal:
        update = revisions[-1].metadata.name
    else:
        update = equal[-1].metadata.name
        step = Renumber(equal[-1], history.newest_number(revisions) + 1)
    current = next((each for each in revisions if each.metadata.name == stateful_set.status.current_revision), None)
    if current is None or current.metadata.name == update:
        return Versions(update, update, stateful_set.spec.template, step)
    return Versions(current.metadata.name, update, history.template_of(current), step)


def needs_current(stateful_set: apps_v1.StatefulSet, ordinal: int) -> bool:
    """Whether a pod made now for this ordinal is to have the current version: it lies below the partition."""
    strategy = stateful_set.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return False
    if strategy.rolling_update is None:
        return ordinal < start(stateful_set) + stateful_set.status.current_replicas
    return ordinal < start(stateful_set) + partition(stateful_set)


def partition(stateful_set: apps_v1.StatefulSet) -> int:
    rolling = stateful_set.spec.update_strategy.rolling_update
    return (rolling.partition or 0) if rolling is not None else 0


def superfluous(
    stateful_set: apps_v1.StatefulSet, revisions: Sequence[Revision], versions: Versions, pods: Iterable[core_v1.Pod]
) -> tuple[Revision, ...]:
    """The oldest revisions that neither a pod nor the set uses, beyond `revisionHistoryLimit`."""
    live = {versions.current, versions.update, *map(revision_of, pods)}
    past = [each for each in revisions if each.metadata.name not in live]
    limit = stateful_set.spec.revision_history_limit
    return tuple(past[: max(0, len(past) - limit)]) if limit is not None else ()


def max_unavailable(stateful_set: apps_v1.StatefulSet) -> int | None:
    """How many pods a rolling update may take down at once; None where the set does not say: then one after the other."""
    rolling = stateful_set.spec.update_strategy.rolling_update
    value = rolling.max_unavailable if rolling is not None else None
    if value is None:
        return None
    if isinstance(value, str):
        value = int(value.removesuffix("%")) * replicas(stateful_set) // 100
    return max(1, value)
