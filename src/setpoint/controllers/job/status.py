"""The patch of a Job's `/status`."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import batch_v1


def patch(job: batch_v1.Job, status: batch_v1.JobStatus) -> dict[str, Any]:
    """A merge patch, valid only for the version that was observed: a pod must not be counted by two views of a Job."""
    listed = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    return {
        "metadata": {"resourceVersion": job.metadata.resource_version},
        "status": {
            "active": status.active or None,
            "ready": status.ready,
            "terminating": status.terminating,
            "succeeded": status.succeeded or None,
            "failed": status.failed or None,
            "completedIndexes": status.completed_indexes or None,
            "failedIndexes": status.failed_indexes,
            "startTime": status.start_time,
            "completionTime": status.completion_time,
            "conditions": msgspec.to_builtins(status.conditions) or None,
            "uncountedTerminatedPods": {
                "succeeded": list(listed.succeeded) or None,
                "failed": list(listed.failed) or None,
            },
        },
    }
