"""CEL, the Common Expression Language, as Kubernetes uses it: the rules of custom resources and of admission policies.

For custom resources (`x-kubernetes-validations`):

    program = cel.compile_rules(schema)                 # once per version; None if the schema has no rules
    errors = program.validate(new, old_or_None)         # field errors, for every write
    errors, warnings = program.review(new, old_or_None) # the same, with the forgiven errors as warnings
    note = cel.blocked(schema_errors)                   # not None: add it to the errors, and do not run the rules
    errors = cel.check_rules(schema, path, broken)      # for the definition's validation

`schema` is one version's structural schema as JSON, objects are plain dicts and are never changed. Rules compile at the first
value that they meet. For expressions on their own there is `cel.compile_expression(text, variables)`.

The parts, in the order that an expression goes through them: `tokens`, `parser` (with `macros`) → `syntax`; `checker` (with
`declarations`, `types`) → types and overloads; `compiler` (with `folds`, `functions`) → nested Python functions; `estimate` (with
`calls`, `spans`) → cost before; `running_cost`, `frame` → cost while it runs. `rules`, `compiled_rules`, `correlation` run a
schema's rules; `definition`, `budget` judge them. Everything is our own, because libraries for Python neither check types against
schemas nor show their trees, which Kubernetes' estimates need; only RE2 comes from outside, loaded with the first pattern.

Promises: an evaluation always ends (values are finite, patterns are RE2's, and each evaluation may spend 1,000,000 units, all
rules of one object 10,000,000 and a second; what values hold many times over counts as often as it is walked); it never raises
for what an expression does; messages are those of cel-go and Kubernetes 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.api.machinery.cel.rules import Program
    from setpoint.api.machinery.cel.types import Type
    from setpoint.api.machinery.status import FieldError


def has_rules(schema: Any) -> bool:
    """Whether any node of a schema has rules; cheap, and loads nothing."""
    if isinstance(schema, dict):
        return bool(schema.get("x-kubernetes-validations")) or any(map(has_rules, schema.values()))
    return isinstance(schema, list) and any(map(has_rules, schema))


def compile_rules(schema: Mapping[str, Any], *, root: bool = True) -> Program | None:
    """The rules of one version's structural schema; nothing if it has none. `root` is false for a part of a resource."""
    if not has_rules(schema):
        return None
    from setpoint.api.machinery.cel import rules

    return rules.compile_rules(schema, root=root)


def check_rules(schema: Mapping[str, Any], path: str, broken: Collection[str] = ()) -> list[FieldError]:
    """What is wrong with the rules of a definition's schema; see `definition.check_rules`."""
    if not has_rules(schema):
        return []
    from setpoint.api.machinery.cel import definition

    return definition.check_rules(schema, path, broken)


def blocked(errors: list[FieldError]) -> FieldError | None:
    """The note that rules were not run, if the schema's errors forbid running them."""
    from setpoint.api.machinery.cel import rules

    return rules.blocked(errors)


def compile_expression(
    text: str, variables: Mapping[str, Type], messages: Callable[[str], Type | None] | None = None
) -> Expression:
    """One expression on its own; `messages` finds the types of objects that it may construct.

    Raises `source.CompileError`, whose message is cel-go's.
    """
    from setpoint.api.machinery.cel.expression import Expression

    return Expression(text, variables, messages)
