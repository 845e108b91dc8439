"""ResourceQuota: what exceeds a quota of its namespace is refused, what fits is charged."""

from setpoint.registry.admission.resource_quota.step import Ledger, ResourceQuota

__all__ = ["Ledger", "ResourceQuota"]
