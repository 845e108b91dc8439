"""ResourceQuotas: what is used is counted when a quota changes and when something it counts goes.

Source: Kubernetes `pkg/controller/resourcequota`.
"""

from setpoint.controllers.resource_quota.controller import new

__all__ = ["new"]
