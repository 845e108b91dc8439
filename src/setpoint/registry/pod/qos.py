"""A pod's quality of service class; see `api.machinery.pod_resources`, which controllers need, too."""

from setpoint.api.machinery.pod_resources import qos_class

__all__ = ["qos_class"]
