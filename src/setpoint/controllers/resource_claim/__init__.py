"""ResourceClaims: those that pods ask for by template are made, and what no pod uses any more is free again.

Source: Kubernetes `pkg/controller/resourceclaim`. Who allocates devices to claims is the scheduler.
"""

from setpoint.controllers.resource_claim.controller import new

__all__ = ["new"]
