"""The rules of one schema node, compiled: what `x-kubernetes-validations` of a structural schema means.

Source: Kubernetes' `apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.cel.expression import Expression
from setpoint.api.machinery.cel.field_paths import normalized
from setpoint.api.machinery.cel.schema_types import Decl
from setpoint.api.machinery.cel.source import CompileError, InstantiationError
from setpoint.api.machinery.cel.types import optional_of

NOT_BOOL = "cel expression must evaluate to a bool"
NOT_STRING = "messageExpression must evaluate to a string"


class CompiledRule:
    """One rule. What does not compile leaves its reason in `error` or `message_error` instead of an expression."""

    __slots__ = ("condition", "error", "field_path", "message", "message_error", "optional_old_self", "rule", "uses_old_self")

    def __init__(self, rule: Mapping[str, Any], schema: Mapping[str, Any], decl: Decl) -> None:
        self.rule = rule
        self.optional_old_self = bool(rule.get("optionalOldSelf"))
        old = optional_of(decl.type) if self.optional_old_self else decl.type
        variables = {"self": decl.type, "oldSelf": old}
        self.condition: Expression | None = None
        self.message: Expression | None = None
        self.error = self.message_error = ""
        text = rule.get("rule") or ""
        if text.strip():
            self.condition, self.error = _compiled(text, variables, "bool", NOT_BOOL, ("", "program"))
        self.uses_old_self = self.condition is not None and "oldSelf" in self.condition.names
        message = rule.get("messageExpression") or ""
        if self.condition is not None and message.strip():
            names = ("messageExpression ", "messageExpression")
            self.message, self.message_error = _compiled(message, variables, "string", NOT_STRING, names)
        path = rule.get("fieldPath") or ""
        self.field_path = (normalized(path, schema) or "") if path else ""

    def shown(self) -> str:
        """What stands for the rule in complaints."""
        return str(self.rule.get("message") or self.rule.get("rule") or "").strip()

    def default_message(self) -> str:
        return self.shown() if self.rule.get("message") else f"failed rule: {self.shown()}"


def _compiled(
    text: str, variables: Mapping[str, Any], wanted: str, otherwise: str, names: tuple[str, str]
) -> tuple[Expression | None, str]:
    """The expression, or why there is none; `names` begin the two kinds of complaints."""
    try:
        expression = Expression(text, variables)
    except InstantiationError as error:
        return None, f"{names[1]} instantiation failed: {error}"
    except CompileError as error:
        return None, f"{names[0]}compilation failed: {error}"
    return (expression, "") if expression.type.name == wanted else (None, otherwise)


def compile_node(schema: Mapping[str, Any], decl: Decl) -> list[CompiledRule]:
    """All rules that stand at a schema node."""
    return [CompiledRule(rule, schema, decl) for rule in schema.get("x-kubernetes-validations") or ()]
