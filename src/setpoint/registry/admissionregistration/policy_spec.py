"""What validating and mutating admission policies share: parameters, variables, constraints.

Source: `pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry.admissionregistration.expressions import Environment
from setpoint.registry.admissionregistration.rules import FAILURE_POLICIES, validate_match_resources
from setpoint.registry.fields import Errors, label_selector, one_of, path_segment

_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
#: words of CEL's grammar, and those it keeps for later
_RESERVED = frozenset(
    {
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)
_NO_EXPRESSION = "expression is not specified"
_NOT_FOUND_ACTIONS = ("Deny", "Allow")

Spec = Mapping[str, Any]


def validate_constraints(spec: Spec, *, mutating: bool) -> Errors:
    """Failure policy, kind of the parameters, and what the policy is about (one rule at least, for the types)."""
    errors = one_of("spec.failurePolicy", spec.get("failurePolicy"), FAILURE_POLICIES)
    errors += _param_kind("spec.paramKind", spec.get("paramKind"))
    constraints, path = spec.get("matchConstraints"), "spec.matchConstraints"
    if constraints is None:
        return [*errors, required(path)]
    errors += validate_match_resources(path, constraints, mutating=mutating)
    return errors if constraints.get("resourceRules") else [*errors, required(f"{path}.resourceRules")]


def _param_kind(path: str, param: Spec | None) -> Errors:
    if param is None:
        return []
    kind = param.get("kind", "")
    errors = _api_version(f"{path}.apiVersion", param.get("apiVersion", ""))
    if not kind:
        return [*errors, required(f"{path}.kind")]
    if messages := names.dns1035_label(kind.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(messages)}"
        errors.append(invalid(f"{path}.kind", kind, why))
    return errors


def _api_version(path: str, value: str) -> Errors:
    if not value:
        return [required(path)]
    if value.count("/") > 1:
        return [invalid(path, value, f"unexpected GroupVersion string: {value}")]
    group, _, version = value.rpartition("/")
    errors: Errors = []
    if group and (messages := names.dns_subdomain(group)):
        errors.append(invalid(path, group, ",".join(messages)))
    if not version:
        errors.append(invalid(path, value, "version must be specified"))
    elif messages := names.dns1035_label(version):
        errors.append(invalid(path, version, ",".join(messages)))
    return errors


def validate_variables(path: str, variables: Sequence[Spec], environment: Environment) -> Errors:
    """Each variable may use those before it."""
    errors: Errors = []
    for i, variable in enumerate(variables):
        name, here = variable.get("name", ""), f"{path}[{i}]"
        if not name.strip():
            errors.append(required(f"{here}.name", "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            errors.append(invalid(f"{here}.name", name, "must be a valid CEL identifier"))
        expression = variable.get("expression", "")
        if expression.strip():
            errors += environment.define(f"{here}.expression", name, expression)
        else:
            errors.append(required(f"{here}.expression", _NO_EXPRESSION))
    return errors


def validate_expression(path: str, expression: str, environment: Environment, result: str) -> Errors:
    """An expression that is there and evaluates to the type named."""
    return environment.complaints(path, expression, result) if expression.strip() else [required(path, _NO_EXPRESSION)]


def validate_param_ref(path: str, reference: Spec | None) -> Errors:
    if reference is None:
        return []
    name, selector, action = (reference.get(field) for field in ("name", "selector", "parameterNotFoundAction"))
    exclusive = "name and selector are mutually exclusive"
    errors: Errors = []
    if name:
        errors += path_segment(f"{path}.name", name)
        errors += [forbidden(f"{path}.name", exclusive)] if selector is not None else []
    if selector is not None:
        errors += label_selector(f"{path}.selector", selector)
        errors += [forbidden(f"{path}.selector", exclusive)] if name else []
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in _NOT_FOUND_ACTIONS:
        errors.append(not_supported(f"{path}.parameterNotFoundAction", action, _NOT_FOUND_ACTIONS))
    return errors
