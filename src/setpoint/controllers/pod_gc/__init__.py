"""Pod garbage collection: pods that nobody would otherwise end."""

from setpoint.controllers.pod_gc.controller import new

__all__ = ["new"]
