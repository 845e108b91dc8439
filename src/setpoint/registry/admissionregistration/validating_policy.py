"""ValidatingAdmissionPolicies and their bindings.

Source: `pkg/apis/admissionregistration/validation`, `pkg/registry/admissionregistration`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, duplicate, invalid, not_supported, required
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
from setpoint.registry.conditions import validate_conditions
from setpoint.registry.fields import Errors, one_of, qualified_name, required_subdomain
from setpoint.registry.spec_status import STATUS_METADATA, StatusStrategy, VersionedSpecStatusStrategy, fill
from setpoint.registry.strategy import Context, Object

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_MAX_ANNOTATIONS = 20
_LONGEST_VALUE = 5 * 1024  # bytes of an expression

Spec = Mapping[str, Any]


class ValidatingPolicyStrategy(AdmissionStrategy, VersionedSpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        fill(spec, "failurePolicy", "Fail")
        default_match_resources(spec.get("matchConstraints"))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj, {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj, old.get("spec") or {})


def _validate_spec(obj: Object, old: Spec) -> Errors:
    spec = obj.get("spec") or {}
    errors = validate_constraints(spec, mutating=False)
    params = spec.get("paramKind") is not None
    if any(spec.get(field) != old.get(field) for field in ("paramKind", "matchConditions")):
        errors += validate_match_conditions("spec.matchConditions", spec.get("matchConditions") or (), params=params)
    environment = Environment(params=params, variables=True)
    errors += validate_variables("spec.variables", spec.get("variables") or (), environment)
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        why = "validations or auditAnnotations must contain at least one item"
        return [*errors, required("spec.validations", why), required("spec.auditAnnotations", why)]
    for i, validation in enumerate(validations):
        errors += _validation(f"spec.validations[{i}]", validation, environment)
    return errors + _annotations("spec.auditAnnotations", annotations, obj["metadata"].get("name", ""), environment)


def _validation(path: str, validation: Spec, environment: Environment) -> Errors:
    message, expression = validation.get("message", ""), validation.get("messageExpression", "")
    errors = validate_expression(f"{path}.expression", validation.get("expression", ""), environment, "bool")
    if expression and not expression.strip():
        errors.append(invalid(f"{path}.messageExpression", expression, "must be non-empty if specified"))
    elif expression:
        errors += environment.complaints(f"{path}.messageExpression", expression, "string", authorizer=False)
    if message and not message.strip():
        errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif any(newline in message.strip() for newline in "\n\r"):
        errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
    return errors + one_of(f"{path}.reason", validation.get("reason"), _REASONS)


def _annotations(path: str, annotations: Sequence[Spec], policy: str, environment: Environment) -> Errors:
    errors: Errors = []
    if len(annotations) > _MAX_ANNOTATIONS:
        shown = [{"Key": one.get("key", ""), "ValueExpression": one.get("valueExpression", "")} for one in annotations]
        errors.append(invalid(path, shown, f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"))
    seen: set[str] = set()
    for i, annotation in enumerate(annotations):
        key, given, here = annotation.get("key", ""), annotation.get("valueExpression", ""), f"{path}[{i}]"
        value = given.strip()
        if policy:
            errors += qualified_name(f"{here}.key", f"{policy}/{key}")
        else:
            errors.append(invalid(f"{here}.key", key, "requires metadata.name be non-empty"))
        if not value:
            errors.append(required(f"{here}.valueExpression", "valueExpression is not specified"))
        elif len(value.encode()) > _LONGEST_VALUE:
            errors.append(required(f"{here}.valueExpression", f"must not exceed {_LONGEST_VALUE} bytes in length"))
        else:
            errors += environment.complaints(f"{here}.valueExpression", value, "string", "null_type", given=given)
        if key in seen:
            errors.append(duplicate(f"{here}.key", key))
        seen.add(key)
    return errors


def _validate_status(obj: Object, _old: Object) -> Errors:
    status = obj.get("status") or {}
    errors: Errors = []
    for i, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        path = f"status.typeChecking.expressionWarnings[{i}]"
        errors += [] if warning.get("warning") else [required(f"{path}.warning")]
        errors += _field_reference(f"{path}.fieldRef", warning.get("fieldRef", "").strip())
    return errors + validate_conditions("status.conditions", status.get("conditions"))


def _field_reference(path: str, reference: str) -> Errors:
    from setpoint.api.machinery.jsonpath import JsonPath, JsonPathError

    if not reference:
        return [required(path)]
    try:
        JsonPath(reference)
    except JsonPathError as error:
        return [invalid(path, reference, f"invalid JSONPath: {error}")]
    return []


def validating_policy_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(ValidatingPolicyStrategy(), keep_metadata=STATUS_METADATA, validate_status=_validate_status)


class ValidatingBindingStrategy(AdmissionStrategy):
    """Where a policy holds, and what comes of it. Kubernetes misspells the field of the resources in complaints."""

    allow_unconditional_update = False
    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        default_match_resources((obj.get("spec") or {}).get("matchResources"))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = required_subdomain("spec.policyName", spec.get("policyName", ""))
        errors += validate_param_ref("spec.paramRef", spec.get("paramRef"))
        errors += validate_match_resources("spec.matchResouces", spec.get("matchResources"))
        return errors + _actions("spec.validationActions", spec.get("validationActions") or [])


def _actions(path: str, actions: list[str]) -> Errors:
    errors: Errors = []
    for i, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"{path}[{i}]", action, _ACTIONS))
        if action in actions[:i]:
            errors.append(duplicate(f"{path}[{i}]", action))
    if {"Deny", "Warn"} <= set(actions):
        why = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response and"
            " headers serves no purpose)"
        )
        errors.append(invalid(path, actions, why))
    return errors if actions else [*errors, required(path, "at least one validation action is required")]
