"""Service accounts: every active namespace has one named `default`; Secrets hold tokens for those that ask for it (`tokens`)."""

from setpoint.controllers.service_account.controller import new

__all__ = ["new"]
