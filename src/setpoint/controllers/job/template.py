"""From a Job's template to the body of a pod, with its completion index where it has one."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.job import policies
from setpoint.controllers.job.pods import FAILURES, FINALIZER, IGNORED_FAILURES, INDEX, failures, ignored_failures
from setpoint.controllers.owned_pods.template import pod_body

_NAME_LENGTH = 58
_VARIABLE = "JOB_COMPLETION_INDEX"


def new_pod(job: batch_v1.Job) -> dict[str, Any]:
    """A pod that the Job can count: its finalizer keeps it until then."""
    body = pod_body(job.spec.template, job, _JOBS)
    finalizers = body["metadata"].get("finalizers", [])
    if FINALIZER not in finalizers:
        body["metadata"]["finalizers"] = [*finalizers, FINALIZER]
    return body


def new_indexed_pod(job: batch_v1.Job, index: int, replaced: core_v1.Pod | None) -> dict[str, Any]:
    """The pod of an index. It knows the index by label, annotation, host name and environment."""
    body = new_pod(job)
    metadata, spec = body["metadata"], body["spec"]
    metadata["generateName"] = _prefix(job.metadata.name, index)
    metadata["labels"] = {**metadata.get("labels", {}), INDEX: str(index)}
    metadata["annotations"] = {**metadata.get("annotations", {}), INDEX: str(index), **_counts(job, replaced)}
    spec["hostname"] = f"{job.metadata.name}-{index}"
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = [_with_variable(container) for container in spec[kind]]
    return body


def _prefix(name: str, index: int) -> str:
    suffix = f"-{index}-"
    return f"{name[: _NAME_LENGTH - len(suffix)]}{suffix}"


def _counts(job: batch_v1.Job, replaced: core_v1.Pod | None) -> dict[str, str]:
    """How often the index failed before, which a Job with a limit per index keeps on its pods."""
    if job.spec.backoff_limit_per_index is None:
        return {}
    counted = ignored = 0
    if replaced is not None:
        counts = policies.judge(job, replaced).counts
        counted, ignored = failures(replaced) + counts, ignored_failures(replaced) + (not counts)
    return {FAILURES: str(counted), **({IGNORED_FAILURES: str(ignored)} if ignored else {})}


def _with_variable(container: dict[str, Any]) -> dict[str, Any]:
    env = container.get("env", ())
    if any(variable["name"] == _VARIABLE for variable in env):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*env, {"name": _VARIABLE, "valueFrom": source}]}


_JOBS = batch_v1.JOBS
