"""How far a rolling update may go beyond and below the wanted number of pods.

A surge given in per cent is rounded up, an unavailability down: one replica is never taken away before its successor is ready
(`ResolveFenceposts` in `pkg/controller/deployment/util/deployment_util.go`).
"""

from __future__ import annotations

import math

from setpoint.api.types import apps_v1
from setpoint.controllers.deployment.replica_sets import desired_replicas

DEFAULT = "25%"


def is_rolling(deployment: apps_v1.Deployment) -> bool:
    return deployment.spec.strategy.type == "RollingUpdate"


def scaled(value: int | str, whole: int, *, up: bool) -> int:
    """An int-or-percent of `whole`, rounded up or down."""
    if isinstance(value, int):
        return value
    share = int(value.removesuffix("%")) * whole / 100
    return math.ceil(share) if up else math.floor(share)


def resolve(max_surge: int | str, max_unavailable: int | str, desired: int) -> tuple[int, int]:
    """(surge, unavailable) in pods. Both zero would stand still for ever: then one may be unavailable."""
    surge = scaled(max_surge, desired, up=True)
    unavailable = scaled(max_unavailable, desired, up=False)
    return (surge, 1) if not surge and not unavailable else (surge, unavailable)


def _resolved(deployment: apps_v1.Deployment) -> tuple[int, int]:
    rolling = deployment.spec.strategy.rolling_update or apps_v1.RollingUpdateDeployment()
    surge = DEFAULT if rolling.max_surge is None else rolling.max_surge
    unavailable = DEFAULT if rolling.max_unavailable is None else rolling.max_unavailable
    return resolve(surge, unavailable, desired_replicas(deployment))


def max_surge(deployment: apps_v1.Deployment) -> int:
    """Pods beyond the wanted number; 0 unless the strategy is RollingUpdate."""
    return _resolved(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: apps_v1.Deployment) -> int:
    """Pods that may be missing, never more than are wanted; 0 unless the strategy is RollingUpdate."""
    desired = desired_replicas(deployment)
    return min(_resolved(deployment)[1], desired) if is_rolling(deployment) and desired else 0


def min_available(deployment: apps_v1.Deployment) -> int:
    return desired_replicas(deployment) - max_unavailable(deployment)
