"""Mirroring: Endpoints that somebody wrote by hand become slices, so that readers of slices see them too."""

from setpoint.controllers.endpoint_slice_mirroring.controller import new

__all__ = ["new"]
