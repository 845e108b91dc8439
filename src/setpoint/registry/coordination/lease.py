"""Leases: heartbeats and leader elections.

Source: `pkg/apis/coordination/validation`, `pkg/registry/coordination/lease`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry.fields import nonnegative
from setpoint.registry.strategy import Context, Heartbeat, Object, Strategy


class LeaseStrategy(Strategy):
    """Whoever writes a lease must have seen it."""

    allow_create_on_update: ClassVar[bool] = True
    allow_unconditional_update = False
    heartbeat: ClassVar[Heartbeat | None] = Heartbeat(("spec", "renewTime"), micro=True)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        _drop_disabled(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        _drop_disabled(obj)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        seconds = spec.get("leaseDurationSeconds")
        errors = (
            [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
            if seconds is not None and seconds <= 0
            else []
        )
        return errors + nonnegative("spec.leaseTransitions", spec.get("leaseTransitions"))


def _drop_disabled(obj: Object) -> None:
    """Fields of coordinated leader election, which is off."""
    spec = obj.get("spec") or {}
    for field in ("strategy", "preferredHolder"):
        spec.pop(field, None)
