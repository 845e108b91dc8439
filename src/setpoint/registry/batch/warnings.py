"""What is said about a Job's spec, alone or as a CronJob's template.

Source: `pkg/api/job/warnings.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.pod.warnings import template_warnings

_MANY, _MANY_AT_ONCE = 10**5, 10**4


def job_warnings(path: str, spec: Mapping[str, Any]) -> list[str]:
    """Of the spec at `path`."""
    out = []
    many = (spec.get("completions") or 0) > _MANY and (spec.get("parallelism") or 0) > _MANY_AT_ONCE
    if spec.get("completionMode") == "Indexed" and many:
        limit = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4"
        why = "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        out.append(f"{path}: {limit}, {why}")
    return out + template_warnings(f"{path}.template", spec["template"])
