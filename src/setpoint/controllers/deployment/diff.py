"""The decision of one pass over a Deployment; pure. As `syncDeployment` in `pkg/controller/deployment`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from setpoint.api.types import apps_v1, meta_v1
from setpoint.controllers import claims
from setpoint.controllers.deployment import conditions, rollback, rollout, scaling, status, versions
from setpoint.controllers.deployment.plan import Draft, Observed, Plan

LOOK_AGAIN = 0.1
"""Seconds until a cache that is behind is looked at again; its next change comes first as a rule."""


def diff(observed: Observed) -> Plan:
    """What to write now; after it, the objects' changes bring the next pass."""
    deployment = observed.deployment
    if observed.behind:
        return Plan(deployment, deployment.status, requeue_after=LOOK_AGAIN)
    selector = deployment.spec.selector
    if selector is None or selector == meta_v1.LabelSelector():
        return _selects_everything(deployment)
    claim = claims.sort(deployment, claims.selector_of(selector), observed.replica_sets)
    draft = Draft(observed)
    rolls_out, asked = False, rollback.requested(deployment)
    if deployment.metadata.deletion_timestamp:
        split = versions.split(draft, claim.owned, create=False)
    else:
        _note_pause(draft)
        if asked is not None and not deployment.spec.paused:
            return _roll_back(draft, claim, asked)
        rolls_out = not (deployment.spec.paused or scaling.is_scaling(deployment, claim.owned))
        split = _roll_out(draft, claim.owned, observed) if rolls_out else _scale(draft, claim.owned)
    new_status = status.calculate(deployment, draft.former, split.all, split.new, draft.now)
    if rolls_out:
        new_status = status.with_progress(deployment, draft.former, new_status, split.all, split.new, draft.now)
    return Plan(
        deployment,
        new_status,
        claim.adopt,
        claim.release,
        tuple(draft.steps),
        draft.revision,
        status.next_check(deployment, new_status, draft.now) if rolls_out else None,
    )


def _selects_everything(deployment: apps_v1.Deployment) -> Plan:
    seen = msgspec.structs.replace(deployment.status, observed_generation=deployment.metadata.generation)
    return Plan(deployment, seen, selects_everything=True)


def _roll_back(draft: Draft, claim: claims.Claim[apps_v1.ReplicaSet], revision: int) -> Plan:
    """The request is dealt with before anything else; what follows from it comes with the next pass."""
    split = versions.split(draft, claim.owned, create=True)
    back = rollback.decide(draft.deployment, revision, split.all)
    written = (claim.adopt, claim.release, tuple(draft.steps), draft.revision)
    return Plan(draft.deployment, draft.former, *written, rollback=back)


def _scale(draft: Draft, owned: Sequence[apps_v1.ReplicaSet]) -> versions.Versions:
    split = versions.split(draft, owned, create=False)
    scaling.scale(draft, split)
    if draft.deployment.spec.paused:
        versions.clean_up(draft, split.old)
    return split


def _roll_out(draft: Draft, owned: Sequence[apps_v1.ReplicaSet], observed: Observed) -> versions.Versions:
    if draft.deployment.spec.strategy.type == "Recreate":
        return rollout.recreate(draft, owned, observed.pods)
    return rollout.rolling(draft, owned)


def _note_pause(draft: Draft) -> None:
    """Say in the condition Progressing that the rollout was paused or resumed, so that a pause does not count as no progress."""
    if not status.has_deadline(draft.deployment):
        return
    current = conditions.get(draft.former.conditions, conditions.PROGRESSING)
    if current is not None and current.reason == "ProgressDeadlineExceeded":
        return
    was_paused = current is not None and current.reason == "DeploymentPaused"
    paused = draft.deployment.spec.paused
    if paused == was_paused:
        return
    word = "paused" if paused else "resumed"
    condition = conditions.new(
        conditions.PROGRESSING, "Unknown", f"Deployment{word.capitalize()}", f"Deployment is {word}", draft.now
    )
    draft.set_condition(conditions.put(draft.former.conditions, condition))
