"""ControllerRevisions: snapshots of templates that never change.

Source: `pkg/apis/apps/validation`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError, required
from setpoint.registry.fields import immutable, nonnegative
from setpoint.registry.strategy import Context, Object, Strategy


class ControllerRevisionStrategy(Strategy):
    """The number may change, the data may not."""

    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors, data = nonnegative("revision", obj.get("revision")), obj.get("data")
        if data is None:
            return [*errors, required("data", "data is mandatory")]
        return errors if isinstance(data, dict) else [*errors, required("data", "data must be a valid JSON object")]

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return nonnegative("revision", obj.get("revision")) + immutable("data", obj.get("data"), old.get("data"))
