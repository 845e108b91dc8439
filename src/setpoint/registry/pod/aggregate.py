"""What a pod's containers request together; see `api.machinery.pod_resources`, which controllers need, too."""

from setpoint.api.machinery.pod_resources import Amounts, aggregate_limits, aggregate_requests, amounts, pod_level

__all__ = ["Amounts", "aggregate_limits", "aggregate_requests", "amounts", "pod_level"]
