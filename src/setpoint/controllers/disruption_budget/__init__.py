"""PodDisruptionBudgets: how many of their pods may be evicted now.

Source: Kubernetes `pkg/controller/disruption`.
"""

from setpoint.controllers.disruption_budget.controller import new

__all__ = ["new"]
