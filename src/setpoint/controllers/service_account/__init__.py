"""The service account controller: every active namespace has an account named `default`."""

from setpoint.controllers.service_account.controller import new

__all__ = ["new"]
