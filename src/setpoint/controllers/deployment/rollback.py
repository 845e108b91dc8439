"""Going back to a former version, asked for by the annotation that `rollbackTo` of old API versions became. Pure.

As `pkg/controller/deployment/rollback.go`: the Deployment gets that version's template and annotations back and loses the
request; the rollout that follows is one like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.deployment import revisions
from setpoint.controllers.deployment.replica_sets import HASH_LABEL, equal_ignoring_hash
from setpoint.controllers.event import Event

REQUEST = "deprecated.deployment.rollback.to"


class Rollback(Struct, frozen=True):
    """What the Deployment becomes; without a `template` it only loses the request."""

    event: Event
    template: core_v1.PodTemplateSpec | None = None
    annotations: dict[str, str | None] = {}

    @property
    def patch(self) -> dict[str, Any]:
        """The strategic merge patch; the template is replaced as a whole."""
        patch: dict[str, Any] = {"metadata": {"annotations": {**self.annotations, REQUEST: None}}}
        if self.template is not None:
            patch["spec"] = {"template": {"$patch": "replace", **msgspec.to_builtins(self.template)}}
        return patch


def requested(deployment: apps_v1.Deployment) -> int | None:
    """The revision asked for, 0 for the last one; None where none is, or what stands there is no number."""
    return revisions.integer(deployment.metadata.annotations.get(REQUEST))


def decide(deployment: apps_v1.Deployment, revision: int, replica_sets: Iterable[apps_v1.ReplicaSet]) -> Rollback:
    """`replica_sets` are all that there are, the new one last."""
    numbered = [(revisions.integer(each.metadata.annotations.get(revisions.REVISION)), each) for each in replica_sets]
    if not revision:
        revision = _last(number or 0 for number, _ in numbered)
        if not revision:
            return _refused("DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
    found = next((each for number, each in numbered if number == revision), None)
    if found is None:
        return _refused("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
    name = deployment.metadata.name
    if equal_ignoring_hash(found.spec.template, deployment.spec.template):
        message = f'The rollback revision contains the same template as current deployment "{name}"'
        return _refused("DeploymentRollbackTemplateUnchanged", message)
    done = Event("Normal", "DeploymentRollback", f'Rolled back deployment "{name}" to revision {revision}')
    return Rollback(done, _template(found), _annotations(deployment, found))


def _refused(reason: str, message: str) -> Rollback:
    return Rollback(Event("Warning", reason, message))


def _last(numbers: Iterable[int]) -> int:
    """The second highest; 0 where there is none."""
    return sorted([0, 0, *numbers])[-2]


def _template(replica_set: apps_v1.ReplicaSet) -> core_v1.PodTemplateSpec:
    template = replica_set.spec.template
    labels = {key: value for key, value in template.metadata.labels.items() if key != HASH_LABEL}
    return msgspec.structs.replace(template, metadata=msgspec.structs.replace(template.metadata, labels=labels))


def _annotations(deployment: apps_v1.Deployment, replica_set: apps_v1.ReplicaSet) -> dict[str, str | None]:
    """The version's own annotations instead of those that were copied to its successor."""
    wanted = {key: value for key, value in replica_set.metadata.annotations.items() if key not in revisions.NOT_COPIED}
    return {**dict.fromkeys(revisions.copied(deployment)), **wanted}
