"""The new ReplicaSet and the old ones: find or make the new, number it, forget the oldest.

As `getAllReplicaSetsAndSyncRevision` and `cleanupDeployment` in `pkg/controller/deployment/sync.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from setpoint.api.types import apps_v1, meta_v1
from setpoint.controllers.deployment import conditions, revisions
from setpoint.controllers.deployment.fenceposts import is_rolling, max_surge
from setpoint.controllers.deployment.plan import Create, Delete, Draft, Update
from setpoint.controllers.deployment.replica_sets import HASH_LABEL, desired_replicas, find_new, replicas, total
from setpoint.controllers.deployment.status import has_deadline
from setpoint.controllers.template_hash import template_hash

NAME_LENGTH = 253
NO_LIMIT = 2**31 - 1


class Versions(Struct, frozen=True):
    """`old` are all ReplicaSets but the new one, empty ones included."""

    new: apps_v1.ReplicaSet | None
    old: tuple[apps_v1.ReplicaSet, ...]

    @property
    def all(self) -> tuple[apps_v1.ReplicaSet, ...]:
        return self.old if self.new is None else (*self.old, self.new)


def split(draft: Draft, replica_sets: Sequence[apps_v1.ReplicaSet], *, create: bool) -> Versions:
    """Tell new from old; number the new one, and make it if asked to."""
    new = find_new(draft.deployment, replica_sets)
    old = tuple(each for each in replica_sets if each is not new)
    revision = revisions.max_revision(old) + 1
    if new is not None:
        return Versions(_synced(draft, new, revision), old)
    return Versions(_created(draft, old, revision) if create else None, old)


def _synced(draft: Draft, new: apps_v1.ReplicaSet, revision: int) -> apps_v1.ReplicaSet:
    """The new ReplicaSet with the annotations it should have."""
    deployment = draft.deployment
    present = new.metadata.annotations
    changes = revisions.for_new(deployment, present, revision)
    min_ready = deployment.spec.min_ready_seconds
    if changes or new.spec.min_ready_seconds != min_ready:
        draft.update(Update(new, changes, min_ready_seconds=min_ready))
    draft.set_revision({**present, **changes}.get(revisions.REVISION, ""))
    if has_deadline(deployment) and conditions.get(draft.former.conditions, conditions.PROGRESSING) is None:
        found = f'Found new replica set "{new.metadata.name}"'
        _set_progressing(draft, "FoundNewReplicaSet", found)
    return new


def _created(draft: Draft, old: tuple[apps_v1.ReplicaSet, ...], revision: int) -> apps_v1.ReplicaSet:
    new = replica_set_for(draft.deployment, draft.former.collision_count, old, revision)
    draft.steps.append(Create(new))
    draft.set_revision(str(revision))
    if has_deadline(draft.deployment):
        _set_progressing(draft, "NewReplicaSetCreated", f'Created new replica set "{new.metadata.name}"')
    return new


def _set_progressing(draft: Draft, reason: str, message: str) -> None:
    condition = conditions.new(conditions.PROGRESSING, "True", reason, message, draft.now)
    draft.set_condition(conditions.put(draft.former.conditions, condition))


def replica_set_for(
    deployment: apps_v1.Deployment, collision_count: int | None, old: Sequence[apps_v1.ReplicaSet], revision: int
) -> apps_v1.ReplicaSet:
    """The ReplicaSet for the Deployment's present template, as large as the rollout allows at once."""
    template = deployment.spec.template
    hash_value = template_hash(template, collision_count)
    labels = {**template.metadata.labels, HASH_LABEL: hash_value}
    selector = deployment.spec.selector or meta_v1.LabelSelector()
    return apps_v1.ReplicaSet(
        metadata=meta_v1.ObjectMeta(
            name=f"{deployment.metadata.name[: NAME_LENGTH - 1 - len(hash_value)]}-{hash_value}",
            namespace=deployment.metadata.namespace,
            labels=labels,
            annotations={
                **revisions.copied(deployment),
                revisions.REVISION: str(revision),
                **revisions.replica_annotations(deployment),
            },
        ),
        spec=apps_v1.ReplicaSetSpec(
            replicas=new_replicas(deployment, total(old), 0),
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=msgspec.structs.replace(selector, match_labels={**selector.match_labels, HASH_LABEL: hash_value}),
            template=msgspec.structs.replace(template, metadata=msgspec.structs.replace(template.metadata, labels=labels)),
        ),
    )


def new_replicas(deployment: apps_v1.Deployment, current: int, own: int) -> int:
    """How many replicas the new ReplicaSet, having `own` of the `current` in all, may ask for now."""
    desired = desired_replicas(deployment)
    if not is_rolling(deployment):
        return desired
    room = desired + max_surge(deployment) - current
    return own if room <= 0 else own + min(room, desired - own)


def clean_up(draft: Draft, old: Sequence[apps_v1.ReplicaSet]) -> None:
    """Delete the oldest empty versions beyond `revisionHistoryLimit`."""
    limit = draft.deployment.spec.revision_history_limit
    if limit is None or limit == NO_LIMIT:
        return
    living = [each for each in old if not each.metadata.deletion_timestamp]
    oldest = sorted(living, key=_by_revision)[: max(0, len(living) - limit)]
    draft.steps.extend(Delete(each) for each in oldest if _is_spent(each))


def _by_revision(replica_set: apps_v1.ReplicaSet) -> tuple[int, str, str]:
    meta = replica_set.metadata
    return revisions.integer(meta.annotations.get(revisions.REVISION)) or 0, meta.creation_timestamp, meta.name


def _is_spent(replica_set: apps_v1.ReplicaSet) -> bool:
    """It asks for no pods, has none, and that is its latest word."""
    seen = replica_set.status.observed_generation >= replica_set.metadata.generation
    return seen and not replica_set.status.replicas and not replicas(replica_set)
