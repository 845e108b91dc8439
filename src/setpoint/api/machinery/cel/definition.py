"""What is wrong with the rules of a definition's schema.

Source: Kubernetes' `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`,
ValidateCustomResourceDefinitionOpenAPISchema.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from setpoint.api.machinery.cel.budget import EXPRESSION_LIMIT, TotalCost, children_cardinality, over_budget
from setpoint.api.machinery.cel.compiled_rules import CompiledRule, compile_node
from setpoint.api.machinery.cel.field_paths import normalized
from setpoint.api.machinery.cel.schema_types import MAX_REQUEST, Decl, declare, escape
from setpoint.api.machinery.cel.spans import MAX
from setpoint.api.machinery.status import FieldError, forbidden, internal, invalid, not_supported, required

Schema = Mapping[str, Any]
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_UNCORRELATED = "oldSelf cannot be used on the uncorrelatable portion of the schema within "


def check_rules(schema: Schema, path: str, broken: Collection[str] = ()) -> list[FieldError]:
    """The errors of all `x-kubernetes-validations` of one version's schema; `path` is that of `openAPIV3Schema`.

    `broken` are the fields of the errors that the schema's own validation found: expressions at a node that has such an error, or
    has one below it, are not compiled, because they could not be judged.
    """
    checker = _Checker(broken)
    checker.node(schema, path, declare(schema, root=True), 1, "")
    return [*checker.errors, *checker.rule_errors, *checker.total.errors(path)]


class _Checker:
    """One schema's check; malformed rules and rules that do not compile are kept apart, as Kubernetes does."""

    def __init__(self, broken: Collection[str]) -> None:
        self.errors: list[FieldError] = []
        self.rule_errors: list[FieldError] = []
        self.total = TotalCost()
        self._broken = list(broken)

    def node(self, schema: Schema, path: str, decl: Decl | None, cardinality: int | None, uncorrelated: str) -> None:
        """`uncorrelated` is the list above that lets no item be told from another, if there is one."""
        inner = children_cardinality(schema, cardinality)
        for below, child, child_decl, apart in _children(schema, path, decl):
            self.node(child, below, child_decl, inner, uncorrelated or apart)
        rules = schema.get("x-kubernetes-validations") or ()
        if not rules:
            return
        before = len(self.errors)
        for index, rule in enumerate(rules):
            self._shape(schema, rule, f"{path}.x-kubernetes-validations[{index}]")
        self._broken += [error.field for error in self.errors[before:]]
        if not any(_inside(field, path) for field in self._broken):
            self._expressions(schema, path, decl, cardinality, uncorrelated)

    def _shape(self, schema: Schema, rule: Schema, path: str) -> None:
        text, message = str(rule.get("rule") or ""), str(rule.get("message") or "")
        if not text.strip():
            self.errors.append(required(f"{path}.rule", "rule is not specified"))
        elif message and not message.strip():
            self.errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
        elif _breaks(message.strip()):
            self.errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
        elif _breaks(text.strip()) and not message.strip():
            self.errors.append(required(f"{path}.message", "message must be specified if rule contains line breaks"))
        expression = rule.get("messageExpression")
        if expression and not expression.strip():
            self.errors.append(required(f"{path}.messageExpression", "messageExpression must be non-empty if specified"))
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            self.errors.append(not_supported(f"{path}.reason", reason, _REASONS))
        self._field_path(schema, str(rule.get("fieldPath") or ""), f"{path}.fieldPath")

    def _field_path(self, schema: Schema, value: str, path: str) -> None:
        if not value:
            return
        if not value.strip():
            self.errors.append(invalid(path, value, "must be non-empty if specified"))
        if _breaks(value):
            self.errors.append(invalid(path, value, "must not contain line breaks"))
        if normalized(value, schema) is None:
            self.errors.append(invalid(path, value, "must be a valid path"))

    def _expressions(self, schema: Schema, path: str, decl: Decl | None, cardinality: int | None, uncorrelated: str) -> None:
        if decl is None:
            detail = "internal error: failed to retrieve type information for x-kubernetes-validations"
            self.rule_errors.append(internal(f"{path}.x-kubernetes-validations", detail))
            return
        times = MAX_REQUEST // (decl.min_size + 1) if cardinality is None else cardinality
        for index, rule in enumerate(compile_node(schema, decl)):
            where = f"{path}.x-kubernetes-validations[{index}]"
            self._rule(rule, where, decl, times)
            self._message(rule, where, decl, times)
            self._old_self(rule, where, uncorrelated)

    def _rule(self, rule: CompiledRule, where: str, decl: Decl, times: int) -> None:
        if rule.condition is not None:
            self._cost(f"{where}.rule", "estimated rule cost", rule.condition.estimated_cost(decl), times)
        if rule.error:
            self.rule_errors.append(invalid(f"{where}.rule", _go_rule(rule.rule), rule.error))

    def _message(self, rule: CompiledRule, where: str, decl: Decl, times: int) -> None:
        if rule.message is not None:
            cost = rule.message.estimated_cost(decl)
            self._cost(f"{where}.messageExpression", "estimated messageExpression cost", cost, times)
        if rule.message_error:
            self.rule_errors.append(invalid(f"{where}.messageExpression", _go_rule(rule.rule), rule.message_error))

    def _cost(self, where: str, what: str, cost: int, times: int) -> None:
        total = min(cost * times, MAX)
        if total > EXPRESSION_LIMIT:
            self.rule_errors.append(forbidden(where, over_budget(what, total, EXPRESSION_LIMIT)))
        self.total.observe(where, total)

    def _old_self(self, rule: CompiledRule, where: str, uncorrelated: str) -> None:
        if rule.uses_old_self:
            if uncorrelated:
                self.rule_errors.append(invalid(f"{where}.rule", rule.rule.get("rule"), f"{_UNCORRELATED}{uncorrelated}"))
        elif (optional := rule.rule.get("optionalOldSelf")) is not None:
            self.rule_errors.append(
                invalid(f"{where}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")
            )


def _children(schema: Schema, path: str, decl: Decl | None) -> Iterator[tuple[str, Schema, Decl | None, str]]:
    """A node's children in Kubernetes' order: path, schema, declaration, and the node's path if its items have no identity."""
    additional = schema.get("additionalProperties")
    of_items = decl.items if decl is not None else None
    if isinstance(additional, Mapping):
        yield f"{path}.additionalProperties", additional, of_items, ""
    for name, child in (schema.get("properties") or {}).items():
        yield f"{path}.properties[{name}]", child, _field(decl, name, child), ""
    for index, one in enumerate(schema.get("allOf") or ()):
        yield f"{path}.allOf[{index}]", {**one, "type": schema.get("type")}, decl, ""
    items = schema.get("items")
    if isinstance(items, Mapping):
        apart = "" if schema.get("x-kubernetes-list-type") == "map" else path
        yield f"{path}.items", items, of_items, apart


def _field(decl: Decl | None, name: str, property: Schema) -> Decl | None:
    escaped = escape(name)
    if escaped is None or decl is None:
        return declare(property)
    return decl.fields.get(escaped)


def _inside(field: str, path: str) -> bool:
    return field == path or (field.startswith(path) and field[len(path)] in ".[")


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _go_rule(rule: Schema) -> dict[str, Any]:
    """A rule as Go's JSON shows its internal form."""
    return {
        "Rule": rule.get("rule") or "",
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
