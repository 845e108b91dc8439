"""ConfigMaps.

Source: `pkg/apis/core/validation/validation.go` (ValidateConfigMap).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, too_long
from setpoint.registry.fields import Errors, complain
from setpoint.registry.strategy import Context, Object, Strategy

MAX_SIZE = 1024 * 1024


class ConfigMapStrategy(Strategy):
    """Data as text and as bytes."""

    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        errors: Errors = []
        for key in sorted(data):
            errors += complain(f"data[{key}]", key, names.config_map_key(key))
            if key in binary:
                errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        for key in sorted(binary):
            errors += complain(f"binaryData[{key}]", key, names.config_map_key(key))
        size = sum(len(value.encode()) for value in data.values()) + sum(map(decoded_size, binary.values()))
        return [*errors, too_long("[]", MAX_SIZE)] if size > MAX_SIZE else errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return frozen(obj, old, ("data", "binaryData")) + self.validate(context, obj)


def decoded_size(value: str) -> int:
    """Bytes that a base64 text stands for; None counts as nothing."""
    return len(value) // 4 * 3 - value.count("=") if value else 0


def frozen(obj: Mapping[str, Any], old: Mapping[str, Any], fields: tuple[str, ...]) -> Errors:
    """An immutable object stays so, and stays as it is (KEP-1412)."""
    if not old.get("immutable"):
        return []
    why = "field is immutable when `immutable` is set"
    errors: Errors = [] if obj.get("immutable") else [forbidden("immutable", why)]
    return errors + [forbidden(field, why) for field in fields if (obj.get(field) or {}) != (old.get(field) or {})]
