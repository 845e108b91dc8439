"""The garbage collector: what lost its last owner goes; owners wait for, or let go of, what they own."""

from setpoint.controllers.garbage_collector.controller import new

__all__ = ["new"]
