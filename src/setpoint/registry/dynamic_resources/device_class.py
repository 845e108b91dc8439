"""DeviceClasses.

Source: `pkg/registry/resource/deviceclass`, `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.collections import each
from setpoint.registry.pod.validation.resources import is_extended
from setpoint.registry.strategy import Context, Object, Strategy


class DeviceClassStrategy(Strategy):
    """What devices of a class have in common."""

    delete_returns_object: ClassVar[bool] = True
    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = each("spec.selectors", spec.get("selectors") or (), words.selector, words.MAX_SELECTORS)
        errors += each("spec.config", spec.get("config") or (), words.configuration, words.MAX_CONFIGURATIONS)
        name = spec.get("extendedResourceName")
        if name is not None and (names.qualified_name(name) or not is_extended(name)):
            errors.append(invalid("spec.extendedResourceName", name, "must be a valid extended resource name"))
        return errors
