"""Controllers of pods: apps, batch, ReplicationController, autoscaling.

Source: Kubernetes `pkg/printers/internalversion/printers.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables.printing import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    NONE,
    UNKNOWN,
    UNSET,
    age,
    boolean,
    column,
    containers,
    duration,
    holds,
    labels,
    name,
    seconds,
    selector,
    simple,
    since,
)


def _parts(obj: Object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return obj.get("spec") or {}, obj.get("status") or {}


def _replicas(kind: str, select: Callable[[Any], str]) -> Table:
    """ReplicaSets and ReplicationControllers."""

    def cells(obj: Object, now: float) -> list[Any]:
        spec, status = _parts(obj)
        counts = [spec.get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
        return [name(obj), *counts, age(obj, now), *containers(spec.get("template")), select(spec.get("selector"))]

    return Table(
        (
            NAME,
            column("Desired", f"{kind}Spec.replicas", type="integer"),
            column("Current", f"{kind}Status.replicas", type="integer"),
            column("Ready", f"{kind}Status.readyReplicas", type="integer"),
            AGE,
            CONTAINERS,
            IMAGES,
            column("Selector", f"{kind}Spec.selector", wide=True),
        ),
        cells,
    )


REPLICA_SET = _replicas("apps.v1.ReplicaSet", selector)
REPLICATION_CONTROLLER = _replicas("core.v1.ReplicationController", labels)


def _deployment(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    return [
        name(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, now),
        *containers(spec.get("template")),
        selector(spec.get("selector"), everything=""),
    ]


DEPLOYMENT = Table(
    (
        NAME,
        column("Ready", text="Number of the pod with ready state"),
        column("Up-to-date", "apps.v1.DeploymentStatus.updatedReplicas"),
        column("Available", "apps.v1.DeploymentStatus.availableReplicas"),
        AGE,
        CONTAINERS,
        IMAGES,
        column("Selector", "apps.v1.DeploymentSpec.selector", wide=True),
    ),
    _deployment,
)


def _stateful_set(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [name(obj), ready, age(obj, now), *containers(spec.get("template"))]


STATEFUL_SET = Table((NAME, column("Ready", text="Number of the pod with ready state"), AGE, CONTAINERS, IMAGES), _stateful_set)

_DAEMON = "apps.v1.DaemonSetStatus"
_DAEMON_COUNTS = (
    ("Desired", "desiredNumberScheduled"),
    ("Current", "currentNumberScheduled"),
    ("Ready", "numberReady"),
    ("Up-to-date", "updatedNumberScheduled"),
    ("Available", "numberAvailable"),
)


def _daemon_set(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    template = spec.get("template") or {}
    return [
        name(obj),
        *(status.get(count, 0) for _, count in _DAEMON_COUNTS),
        labels((template.get("spec") or {}).get("nodeSelector")),
        age(obj, now),
        *containers(template),
        selector(spec.get("selector")),
    ]


DAEMON_SET = Table(
    (
        NAME,
        *(column(title, f"{_DAEMON}.{count}", type="integer") for title, count in _DAEMON_COUNTS),
        column("Node Selector", "core.v1.PodSpec.nodeSelector"),
        AGE,
        CONTAINERS,
        IMAGES,
        column("Selector", "apps.v1.DaemonSetSpec.selector", wide=True),
    ),
    _daemon_set,
)


def _revision(obj: Object) -> list[Any]:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    if owner is None:
        controller = NONE
    else:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        kind = f"{owner.get('kind', '')}.{group}" if group else owner.get("kind", "")
        controller = f"{kind.lower()}/{owner.get('name', '')}"
    return [controller, obj.get("revision", 0)]


CONTROLLER_REVISION = simple(
    column("Controller", text="Controller of the object"),
    column("Revision", "apps.v1.ControllerRevision.revision"),
    cells=_revision,
)

_JOB_WORDS = (
    ("Complete", "Complete"),
    ("Failed", "Failed"),
    ("", "Terminating"),
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _job_word(obj: Object) -> str:
    deleting = bool(obj["metadata"].get("deletionTimestamp"))
    return next((word for sign, word in _JOB_WORDS if (holds(obj, sign) if sign else deleting)), "Running")


def _completions(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    done, wanted, parallel = status.get("succeeded", 0), spec.get("completions"), spec.get("parallelism") or 0
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    start, end = status.get("startTime"), status.get("completionTime")
    ran = duration((seconds(end) if end else now) - seconds(start)) if start else ""
    return [
        name(obj),
        _job_word(obj),
        _completions(spec, status),
        ran,
        age(obj, now),
        *containers(spec.get("template")),
        selector(spec.get("selector")),
    ]


JOB = Table(
    (
        NAME,
        column("Status", text="Status of the job."),
        column("Completions", "batch.v1.JobStatus.succeeded"),
        column("Duration", text="Time required to complete the job."),
        AGE,
        CONTAINERS,
        IMAGES,
        column("Selector", "batch.v1.JobSpec.selector", wide=True),
    ),
    _job,
)


def _cron_job(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    last = status.get("lastScheduleTime")
    return [
        name(obj),
        spec.get("schedule", ""),
        spec.get("timeZone") or NONE,
        boolean(spec.get("suspend")),
        len(status.get("active") or ()),
        since(last, now) if last else NONE,
        age(obj, now),
        *containers(job.get("template")),
        selector(job.get("selector")),
    ]


CRON_JOB = Table(
    (
        NAME,
        column("Schedule", "batch.v1.CronJobSpec.schedule"),
        column("Timezone", "batch.v1.CronJobSpec.timeZone"),
        column("Suspend", "batch.v1.CronJobSpec.suspend", type="boolean"),
        column("Active", "batch.v1.CronJobStatus.active", type="integer"),
        column("Last Schedule", "batch.v1.CronJobStatus.lastScheduleTime"),
        AGE,
        CONTAINERS,
        IMAGES,
        column("Selector", "batch.v1.JobSpec.selector", wide=True),
    ),
    _cron_job,
)


def _scale(obj: Object, now: float) -> list[Any]:
    spec, status = _parts(obj)
    return [name(obj), spec.get("replicas", 0), status.get("replicas", 0), age(obj, now)]


SCALE = Table(
    (
        Column("Name", "string", documents=NAME.documents),
        column("Desired", "autoscaling.v1.ScaleSpec.replicas", type="integer"),
        column("Available", "autoscaling.v1.ScaleStatus.replicas", type="integer"),
        AGE,
    ),
    _scale,
)

# --- HorizontalPodAutoscaler ---


def _target(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    """One metric as `current/target`; `status` is what was measured of it."""
    source = {"Resource": "resource", "ContainerResource": "containerResource", "Pods": "pods", "Object": "object"}.get(
        spec.get("type", ""), "external" if spec.get("type") == "External" else ""
    )
    if not source:
        return "<unknown type>"
    metric, measured = spec.get(source) or {}, status.get(source)
    target = metric.get("target") or {}
    if source in ("resource", "containerResource"):
        return f"{metric.get('name', '')}: {_resource(target, measured)}"
    if source == "pods":
        return f"{_measured(measured, 'averageValue')}/{target.get('averageValue', '')}"
    if target.get("averageValue") is not None:
        current = (measured or {}).get("current") or {}
        return f"{current.get('averageValue', UNKNOWN)}/{target['averageValue']} (avg)"
    return f"{_measured(measured, 'value')}/{target.get('value', '')}"


def _measured(status: Mapping[str, Any] | None, part: str) -> str:
    """One value of what was measured; Kubernetes shows the pointer where another was."""
    return UNKNOWN if status is None else str((status.get("current") or {}).get(part, "<nil>"))


def _resource(target: Mapping[str, Any], measured: Mapping[str, Any] | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_measured(measured, 'averageValue')}/{target['averageValue']}"
    wanted, is_now = target.get("averageUtilization"), ((measured or {}).get("current") or {}).get("averageUtilization")
    return f"{UNKNOWN if is_now is None else f'{is_now}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _targets(obj: Object) -> str:
    spec, status = _parts(obj)
    metrics, measured = spec.get("metrics") or (), status.get("currentMetrics") or ()
    if not metrics:
        return NONE
    texts = [_target(metric, measured[index] if index < len(measured) else {}) for index, metric in enumerate(metrics)]
    return ", ".join(texts[:2]) + (f" + {len(texts) - 2} more..." if len(texts) > 2 else "")


def _autoscaler(obj: Object) -> list[Any]:
    spec, status = _parts(obj)
    reference = spec.get("scaleTargetRef") or {}
    least = spec.get("minReplicas")
    return [
        f"{reference.get('kind', '')}/{reference.get('name', '')}",
        _targets(obj),
        UNSET if least is None else str(least),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
    ]


_HPA = "autoscaling.v2.HorizontalPodAutoscaler"
HORIZONTAL_POD_AUTOSCALER = simple(
    column("Reference", f"{_HPA}Spec.scaleTargetRef"),
    column("Targets", f"{_HPA}Spec.metrics"),
    column("MinPods", f"{_HPA}Spec.minReplicas"),
    column("MaxPods", f"{_HPA}Spec.maxReplicas"),
    column("Replicas", f"{_HPA}Status.currentReplicas"),
    cells=_autoscaler,
)


def _budget(obj: Object) -> list[Any]:
    spec, status = _parts(obj)
    limits = [spec.get("minAvailable"), spec.get("maxUnavailable")]
    return [*("N/A" if limit is None else str(limit) for limit in limits), status.get("disruptionsAllowed", 0)]


POD_DISRUPTION_BUDGET = simple(
    column("Min Available", text="The minimum number of pods that must be available."),
    column("Max Unavailable", text="The maximum number of pods that may be unavailable."),
    column(
        "Allowed Disruptions",
        text="Calculated number of pods that may be disrupted at this time.",
        type="integer",
    ),
    cells=_budget,
)
