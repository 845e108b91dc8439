"""Eviction by devices' taints: a NoExecute taint of an allocated device ends the pods that have it and do not tolerate that.

Source: Kubernetes `pkg/controller/devicetainteviction`. Taints come with the ResourceSlices that drivers publish.
"""

from setpoint.controllers.device_taint_eviction.controller import new

__all__ = ["new"]
