"""IPAddresses: a cluster address and the object that has it.

Source: `pkg/registry/networking/ipaddress`, `pkg/apis/networking/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, dns_subdomain, path_segment, required_segment
from setpoint.registry.strategy import Context, Object, Strategy


class IPAddressStrategy(Strategy):
    """The name is the address."""

    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset()

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return formats.canonical_ip(name)

    def generate_name(self, base: str) -> str:
        """An address with letters behind it would be none."""
        return base

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        parent = _parent(obj)
        if parent is None:
            return [required("spec.parentRef")]
        path = "spec.parentRef"
        errors: Errors = dns_subdomain(f"{path}.group", parent["group"]) if parent.get("group") else []
        errors += required_segment(f"{path}.resource", parent.get("resource", ""))
        errors += required_segment(f"{path}.name", parent.get("name", ""))
        return errors + path_segment(f"{path}.namespace", parent.get("namespace", ""))

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors, new = self.validate(context, obj), _parent(obj)
        if new != _parent(old):
            shown = None if new is None else go_form.of(new, "ParentReference")
            errors.append(invalid("spec.parentRef", shown, formats.IMMUTABLE))
        return errors


def _parent(obj: Object) -> Mapping[str, Any] | None:
    parent: Mapping[str, Any] | None = (obj.get("spec") or {}).get("parentRef")
    return parent
