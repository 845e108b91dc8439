"""EndpointSlices: where the pods of a Service are reached, in pieces of a hundred."""

from setpoint.controllers.endpoint_slice.controller import new

__all__ = ["new"]
