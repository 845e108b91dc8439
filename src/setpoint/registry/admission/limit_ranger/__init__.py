"""LimitRanger: a namespace's LimitRanges give containers default resources, and bounds that pods and claims must keep."""

from setpoint.registry.admission.limit_ranger.step import LimitRanger

__all__ = ["LimitRanger"]
