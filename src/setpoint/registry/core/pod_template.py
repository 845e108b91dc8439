"""PodTemplates: templates as objects of their own.

Source: `pkg/registry/core/podtemplate/strategy.go`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.ratchet import template_options
from setpoint.registry.pod.validation.template import validate_template
from setpoint.registry.pod.warnings import template_warnings
from setpoint.registry.strategy import Context, Object, Strategy


class PodTemplateStrategy(Strategy):
    """The generation counts changes of the template."""

    delete_returns_object: ClassVar[bool] = True
    has_generation: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_template(obj.setdefault("template", {}))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return validate_template("template", obj["template"], template_options(None))

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return validate_template("template", obj["template"], template_options(old.get("template") or {}))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return template_warnings("template", obj["template"])

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return [] if obj["template"] == old.get("template") else template_warnings("template", obj["template"])

    def generation_changed(self, obj: Object, old: Object) -> bool:
        return bool(obj.get("template") != old.get("template"))
