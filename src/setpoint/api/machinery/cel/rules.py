"""The rules of a whole schema, run against objects.

Source: Kubernetes' `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`, whose messages these are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from setpoint.api.machinery.cel.compiled_rules import CompiledRule, compile_node
from setpoint.api.machinery.cel.correlation import Correlated, OldItems, Ratchet
from setpoint.api.machinery.cel.expression import Expression, Outcome
from setpoint.api.machinery.cel.running_cost import OBJECT_BUDGET
from setpoint.api.machinery.cel.schema_types import Decl, declare, escape
from setpoint.api.machinery.cel.values import NO_OVERLOAD, NONE, Optional
from setpoint.api.machinery.status import OMITTED, FieldError

Schema = Mapping[str, Any]
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_MAX_MESSAGE = 5 * 1024
_CANCELLED = "operation cancelled: actual cost limit exceeded"
_INTERRUPTED = "operation interrupted"
#: seconds that all rules of one object may take together: nothing else is served meanwhile
LONGEST = 1.0


class OutOfBudget(Exception):
    """The object's rules have cost all that they may."""


class Validation:
    """One run over one object: what was found, and what may still be spent, in units of cost and in seconds."""

    __slots__ = ("budget", "errors", "seconds", "warnings")

    def __init__(self) -> None:
        self.budget = OBJECT_BUDGET
        self.seconds = LONGEST
        self.errors: list[FieldError] = []
        self.warnings: list[str] = []

    def evaluate(self, expression: Expression, values: list[Any]) -> Outcome:
        """An expression's outcome; compiling it, which is done once, is not part of the time."""
        if self.seconds <= 0:
            return Outcome(None, _INTERRUPTED, 0)
        start = time.thread_time()
        outcome = expression.evaluate(values, seconds=self.seconds)
        self.seconds -= time.thread_time() - start
        return outcome


class NodeRules:
    """The rules at one schema node and below. They are compiled when the first value comes by."""

    def __init__(self, schema: Schema, spine: Schema, decl: Decl | None) -> None:
        """`schema` has the rules; `spine` is the node that says the type (they differ inside `allOf`)."""
        self._schema = schema
        self._spine = spine
        self._decl = decl
        self._compiled: list[CompiledRule] | None = None
        self.properties: dict[str, NodeRules] = dict(_property_rules(schema, spine, decl))
        self.additional = _additional_rules(schema, spine, decl)
        self.items = _item_rules(schema, spine, decl)
        self.all_of = [rules for one in schema.get("allOf") or () if (rules := NodeRules(one, spine, decl)).any()]

    def any(self) -> bool:
        return bool(
            self._schema.get("x-kubernetes-validations") or self.properties or self.additional or self.items or self.all_of
        )

    def validate(self, run: Validation, path: str, new: Any, old: Any, ratchet: Ratchet) -> None:
        """Adds to the run's errors and warnings.

        Raises OutOfBudget when nothing more may be evaluated.
        """
        if new is None:
            return
        if self._schema.get("x-kubernetes-validations"):
            self._own(run, path, new, old, ratchet)
        for rules in self.all_of:
            rules.validate(run, path, new, old, ratchet.every())
        if isinstance(new, list):
            self._list(run, path, new, old, ratchet)
        elif isinstance(new, dict):
            self._map(run, path, new, old if isinstance(old, dict) else {}, ratchet)

    def _list(self, run: Validation, path: str, new: list[Any], old: Any, ratchet: Ratchet) -> None:
        if self.items is None:
            return
        olds, spine = OldItems(old, self._spine), self._spine.get("items") or {}
        for index, item in enumerate(new):
            before = olds.get(item)
            self.items.validate(run, f"{path}[{index}]", item, before, ratchet.index(item, before, spine))

    def _map(self, run: Validation, path: str, new: dict[str, Any], old: Mapping[str, Any], ratchet: Ratchet) -> None:
        properties = self._spine.get("properties") or {}
        if self.additional is not None:
            spine = self._spine.get("additionalProperties") or {}
            for key, value in new.items():
                if key not in properties:
                    self.additional.validate(run, f"{path}[{key}]", value, old.get(key), ratchet.key(key, spine))
        for key, value in new.items():
            rules = self.properties.get(key)
            if rules is not None:
                rules.validate(run, f"{path}.{key}" if path else key, value, old.get(key), ratchet.key(key, properties[key]))

    def _rules(self) -> list[CompiledRule]:
        if self._compiled is None:
            schema = {**self._spine, "x-kubernetes-validations": self._schema.get("x-kubernetes-validations")}
            self._compiled = compile_node(schema, self._decl) if self._decl is not None else []
        return self._compiled

    def _own(self, run: Validation, path: str, new: Any, old: Any, ratchet: Ratchet) -> None:
        kind = self._spine.get("type") or ""
        if run.budget <= 0:
            run.errors.append(_invalid(path, kind, _OUT_OF_BUDGET))
            raise OutOfBudget
        convert = self._decl.convert if self._decl is not None else None
        self_value = convert(new) if convert else new
        old_value = convert(old) if convert and old is not None else old
        for rule in self._rules():
            if rule.error:
                run.errors.append(_invalid(path, kind, f"rule compile error: {rule.error}"))
            elif not (rule.uses_old_self and old is None and not rule.optional_old_self):
                values = _values(rule, self_value, old_value)
                self._one(run, path, rule, (kind, new), values, ratchet)

    def _one(
        self, run: Validation, path: str, rule: CompiledRule, value: tuple[str, Any], values: list[Any], ratchet: Ratchet
    ) -> None:
        kind, new = value
        if rule.condition is None:
            return
        outcome = run.evaluate(rule.condition, values)
        if outcome.cost > run.budget:
            run.errors.append(_invalid(path, kind, _OUT_OF_BUDGET))
            raise OutOfBudget
        run.budget -= outcome.cost
        if outcome.error:
            run.errors.append(_invalid(path, kind, _failure(outcome.error, rule)))
            if outcome.error in {_CANCELLED, _INTERRUPTED}:
                raise OutOfBudget
            return
        if outcome.value is True:
            return
        where = f"{path}.{rule.field_path}".removeprefix(".") if rule.field_path else path
        detail, stop = _message(run, rule, values)
        error = _refused(where, new, detail, rule) if not stop else _invalid(where, kind, detail)
        if not rule.uses_old_self and ratchet.forgives():
            run.warnings.append(str(error))
        else:
            run.errors.append(error)
        if stop:
            raise OutOfBudget


def _property_rules(schema: Schema, spine: Schema, decl: Decl | None) -> Iterator[tuple[str, NodeRules]]:
    properties = spine.get("properties") or {}
    for name, child in (schema.get("properties") or {}).items():
        node = properties.get(name)
        if node is None or decl is None:
            continue
        escaped = escape(name)
        field = decl.fields.get(escaped) if escaped is not None else declare(node)
        if field is not None and (rules := NodeRules(child, node, field)).any():
            yield name, rules


def _additional_rules(schema: Schema, spine: Schema, decl: Decl | None) -> NodeRules | None:
    inner, node = schema.get("additionalProperties"), spine.get("additionalProperties")
    if not isinstance(inner, Mapping) or not isinstance(node, Mapping):
        return None
    rules = NodeRules(inner, node, decl.items if decl is not None else None)
    return rules if rules.any() else None


def _item_rules(schema: Schema, spine: Schema, decl: Decl | None) -> NodeRules | None:
    inner, node = schema.get("items"), spine.get("items")
    if not inner or not node:
        return None
    rules = NodeRules(inner, node, decl.items if decl is not None else None)
    return rules if rules.any() else None


def _values(rule: CompiledRule, new: Any, old: Any) -> list[Any]:
    """`self` and `oldSelf`, the latter optional if the rule wants it so."""
    if not rule.optional_old_self:
        return [new, old]
    return [new, NONE if old is None else Optional(old, present=True)]


def _failure(error: str, rule: CompiledRule) -> str:
    if error.startswith(NO_OVERLOAD):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro signature for rule: {rule.shown()}"
        )
    if error == _CANCELLED:
        return f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {rule.shown()}"
    return f"{error} evaluating rule: {rule.shown()}"


def _message(run: Validation, rule: CompiledRule, values: list[Any]) -> tuple[str, bool]:
    """What to say of a rule that failed, and whether saying it has used up the budget."""
    if rule.message is None:
        return rule.default_message(), False
    outcome = run.evaluate(rule.message, values)
    if outcome.cost > run.budget:
        return (
            "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
            True,
        )
    if outcome.error == _CANCELLED:
        text = rule.message.text.replace("\\", "\\\\").replace('"', '\\"')
        return f'no further validation rules will be run due to call cost exceeds limit for messageExpression: "{text}"', True
    run.budget -= outcome.cost
    text = outcome.value.strip() if not outcome.error and isinstance(outcome.value, str) else ""
    usable = text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE
    return (text if usable else rule.default_message()), False


def _refused(path: str, value: Any, detail: str, rule: CompiledRule) -> FieldError:
    """The error that the rule's reason asks for; whole objects and lists are not shown."""
    shown = OMITTED if isinstance(value, dict | list) else value
    reason = rule.rule.get("reason") or "FieldValueInvalid"
    if reason in {"FieldValueForbidden", "FieldValueRequired"}:
        return FieldError(reason, _shown(path), None, detail)
    if reason == "FieldValueDuplicate":
        return FieldError(reason, _shown(path), shown)
    return FieldError("FieldValueInvalid", _shown(path), shown, detail)


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", _shown(path), value, detail)


def _shown(path: str) -> str:
    """The root of an object has no name."""
    return path or "<nil>"


class Program:
    """All rules of one version's schema."""

    def __init__(self, rules: NodeRules, schema: Schema) -> None:
        self._rules = rules
        self._schema = schema

    def validate(self, new: Any, old: Any = None, path: str = "", *, ratcheting: bool = True) -> list[FieldError]:
        """What the rules say of `new`, in the order of the schema's nodes from the root down.

        With `old` (an update) transition rules run too, and what a value breaks that did not change is forgiven, unless there
        is no `ratcheting`. Rules belong behind the schema's own validation: run them only if that found nothing that `blocks`
        them.
        """
        return self.review(new, old, path, ratcheting=ratcheting)[0]

    def review(self, new: Any, old: Any = None, path: str = "", *, ratcheting: bool = True) -> tuple[list[FieldError], list[str]]:
        """`validate`'s errors, and the forgiven ones as texts for warnings."""
        run = Validation()
        ratchet = Ratchet(Correlated(new, old, self._schema)) if old is not None and ratcheting else Ratchet()
        with suppress(OutOfBudget):
            self._rules.validate(run, path, new, old, ratchet)
        return run.errors, run.warnings


_BLOCKING = {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}


def blocked(errors: list[FieldError]) -> FieldError | None:
    """The note that rules were not run, if what the schema's validation found is of the kind that forbids running them."""
    if not any(error.reason in _BLOCKING for error in errors):
        return None
    detail = (
        "some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    )
    return FieldError("FieldValueInvalid", "<nil>", None, detail)


def compile_rules(schema: Schema, *, root: bool = True) -> Program | None:
    """The rules of a structural schema, or nothing if it has none (or none that can see anything)."""
    rules = NodeRules(schema, schema, declare(schema, root=root))
    return Program(rules, schema) if rules.any() else None
