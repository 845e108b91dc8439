"""Finished Jobs that say how long they are to be kept, and go when that is over."""

from setpoint.controllers.ttl_after_finished.controller import new

__all__ = ["new"]
