"""The namespace controller: empties a namespace that is being deleted, then lets it go."""

from setpoint.controllers.namespace.controller import new

__all__ = ["new"]
