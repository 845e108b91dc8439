"""Endpoints: the older form in which the pods of a Service are published."""

from setpoint.controllers.endpoints.controller import new

__all__ = ["new"]
