"""The node life cycle: who stopped reporting is Unknown, tainted, and its pods are no longer ready."""

from setpoint.controllers.node_lifecycle.controller import new

__all__ = ["new"]
