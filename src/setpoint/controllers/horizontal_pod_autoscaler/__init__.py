"""The HorizontalPodAutoscaler controller: as many replicas as the metrics ask for."""

from setpoint.controllers.horizontal_pod_autoscaler.controller import new

__all__ = ["new"]
