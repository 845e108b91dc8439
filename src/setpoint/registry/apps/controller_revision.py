"""ControllerRevisions: snapshots of templates that never change.

Source: `pkg/apis/apps/validation`.
"""

from __future__ import annotations

from setpoint.api.machinery.status import FieldError, required
from setpoint.registry.fields import immutable, nonnegative
from setpoint.registry.strategy import Context, Object, Strategy


class ControllerRevisionStrategy(Strategy):
    """The number may change, the data may not."""

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = nonnegative("revision", obj.get("revision"))
        return errors if obj.get("data") is not None else [*errors, required("data", "data is mandatory")]

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validate(context, obj) + immutable("data", obj.get("data"), old.get("data"))
