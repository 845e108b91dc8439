"""Eviction by taint: a NoExecute taint ends the pods that do not tolerate it, at once or when their toleration ends."""

from setpoint.controllers.taint_eviction.controller import new

__all__ = ["new"]
