"""MutatingAdmissionPolicies and their bindings.

Source: `pkg/apis/admissionregistration/validation`, `pkg/registry/admissionregistration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry.admissionregistration.expressions import Environment
from setpoint.registry.admissionregistration.match_conditions import validate_match_conditions
from setpoint.registry.admissionregistration.policy_spec import (
    validate_constraints,
    validate_expression,
    validate_param_ref,
    validate_variables,
)
from setpoint.registry.admissionregistration.reserved_names import AdmissionStrategy
from setpoint.registry.admissionregistration.rules import default_match_resources, validate_match_resources
from setpoint.registry.fields import Errors, required_subdomain
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object

_REINVOCATION = ("IfNeeded", "Never")
#: patch type → the field that holds its expression
_FIELDS = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_RESULTS = {"ApplyConfiguration": "Object", "JSONPatch": "list(JSONPatch)"}

Spec = Mapping[str, Any]


class MutatingPolicyStrategy(AdmissionStrategy):
    """Has no status."""

    allow_unconditional_update = False
    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        fill(spec, "failurePolicy", "Fail")
        default_match_resources(spec.get("matchConstraints"))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, old.get("spec") or {})


def _validate_spec(spec: Spec, old: Spec) -> Errors:
    errors = validate_constraints(spec, mutating=True)
    params = spec.get("paramKind") is not None
    if any(spec.get(field) != old.get(field) for field in ("paramKind", "matchConditions")):
        errors += validate_match_conditions("spec.matchConditions", spec.get("matchConditions") or (), params=params)
    environment = Environment(params=params, variables=True)
    errors += validate_variables("spec.variables", spec.get("variables") or (), environment)
    mutations, policy = spec.get("mutations") or (), spec.get("reinvocationPolicy", "")
    if not mutations:
        errors.append(required("spec.mutations", "mutations must contain at least one item"))
    for i, mutation in enumerate(mutations):
        errors += _mutation(f"spec.mutations[{i}]", mutation, environment)
    if not policy:
        errors.append(required("spec.reinvocationPolicy"))
    elif policy not in _REINVOCATION:
        errors.append(not_supported("spec.reinvocationPolicy", policy, _REINVOCATION))
    return errors


def _mutation(path: str, mutation: Spec, environment: Environment) -> Errors:
    kind = mutation.get("patchType", "")
    if not kind:
        return [required(f"{path}.patchType")]
    if kind not in _FIELDS:
        return [not_supported(f"{path}.patchType", kind, _FIELDS)]
    field = _FIELDS[kind]
    other = next(name for name in _FIELDS.values() if name != field)
    patch = mutation.get(field)
    if patch is None:
        errors: Errors = [required(f"{path}.{field}", f"must be specified when patchType is {kind}")]
    else:
        errors = validate_expression(f"{path}.{field}.expression", patch.get("expression", ""), environment, _RESULTS[kind])
    if mutation.get(other) is not None:
        errors.append(invalid(f"{path}.{other}", f"{{{other}}}", f"must not be specified when patchType is {kind}"))
    return errors


class MutatingBindingStrategy(AdmissionStrategy):
    """Where a policy holds."""

    allow_unconditional_update = False
    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_match_resources((obj.get("spec") or {}).get("matchResources"))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = required_subdomain("spec.policyName", spec.get("policyName", ""))
        errors += validate_param_ref("spec.paramRef", spec.get("paramRef"))
        return errors + validate_match_resources("spec.matchResources", spec.get("matchResources"), mutating=True)
