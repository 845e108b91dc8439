"""IngressClasses.

Source: `pkg/apis/networking/validation`, `pkg/apis/networking/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, not_supported, required, too_long
from setpoint.registry.fields import Errors, complain, dns_subdomain, domain_prefixed_path, immutable, required_segment
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_LONGEST_CONTROLLER = 250
_SCOPES = ("Cluster", "Namespace")


class IngressClassStrategy(Strategy):
    """Who serves Ingresses of a class is for life."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        parameters = (obj.get("spec") or {}).get("parameters")
        if parameters is not None:
            fill(parameters, "scope", "Cluster")

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        controller = spec.get("controller", "")
        errors: Errors = [] if controller else [required("spec.controller")]
        if len(controller) > _LONGEST_CONTROLLER:
            errors.append(too_long("spec.controller", _LONGEST_CONTROLLER))
        if controller:
            errors += domain_prefixed_path("spec.controller", controller)
        return errors + _parameters("spec.parameters", spec.get("parameters"))

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = ((one.get("spec") or {}).get("controller", "") for one in (obj, old))
        return immutable("spec.controller", new, before) + self.validate(context, obj)


def _parameters(path: str, parameters: Mapping[str, Any] | None) -> Errors:
    if parameters is None:
        return []
    group, scope, namespace = (parameters.get(name) for name in ("apiGroup", "scope", "namespace"))
    errors = [] if group is None else dns_subdomain(f"{path}.apiGroup", group)
    errors += required_segment(f"{path}.kind", parameters.get("kind", ""))
    errors += required_segment(f"{path}.name", parameters.get("name", ""))
    if scope not in _SCOPES:
        return [*errors, not_supported(f"{path}.scope", scope, _SCOPES)]
    if scope == "Namespace" and namespace is None:
        errors.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Namespace":
        errors += complain(f"{path}.namespace", namespace, names.dns_label(str(namespace)))
    elif namespace is not None:
        errors.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors
