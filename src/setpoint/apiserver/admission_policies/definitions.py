"""Policies and bindings as the steps use them: read once per change, their expressions compiled when they are first needed.

Source: apiserver `pkg/admission/plugin/policy/generic/policy_source.go`, `plugin/policy/validating/plugin.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery import selectors
from setpoint.api.machinery.selectors import LabelSelector
from setpoint.registry.admission.match_conditions import Holder, MatchConditions
from setpoint.registry.admission.matching import Rule, read_rules
from setpoint.registry.admissionregistration.expressions import Environment

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression

Json = Mapping[str, Any]


class Constraints(Struct, frozen=True):
    """What a policy or a binding is about (`matchConstraints`, `matchResources`)."""

    rules: tuple[Rule, ...]
    excluded: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    equivalent: bool

    def could_match(self, operation: str, places: Sequence[tuple[str, str]], subresource: str) -> bool:
        """Whether it may be about a write to one of these (group, plural)."""
        if not self.rules:
            return True
        return any(rule.could_match(operation, group, plural, subresource) for rule in self.rules for group, plural in places)


def read_constraints(given: Json) -> Constraints:
    return Constraints(
        rules=read_rules(given.get("resourceRules")),
        excluded=read_rules(given.get("excludeResourceRules")),
        namespaces=selectors.from_object(given.get("namespaceSelector") or {}),
        objects=selectors.from_object(given.get("objectSelector") or {}),
        equivalent=given.get("matchPolicy") != "Exact",
    )


class Binding(Struct, frozen=True):
    """Where a policy holds, with what parameters, and what comes of it."""

    name: str
    policy: str
    constraints: Constraints | None
    param_ref: Json | None
    actions: tuple[str, ...]


def read_binding(given: Json) -> Binding:
    spec = given.get("spec") or {}
    resources = spec.get("matchResources")
    return Binding(
        name=given["metadata"]["name"],
        policy=spec.get("policyName", ""),
        constraints=read_constraints(resources) if resources is not None else None,
        param_ref=spec.get("paramRef"),
        actions=tuple(spec.get("validationActions") or ()),
    )


class Compiled:
    """An expression; one that does not compile fails whenever it is evaluated. Empty ones have no value."""

    def __init__(self, text: str, environment: Environment, *, authorizer: bool = True) -> None:
        from setpoint.api.machinery.cel.source import CompileError

        self.text = text
        self.names = list(environment.names(authorizer=authorizer))
        self.expression: Expression | None = None
        self.error = ""
        if not text.strip():
            return
        try:
            self.expression = environment.compile(text, authorizer=authorizer)
        except CompileError as error:
            self.error = str(error)


class Policy:
    """One policy with its bindings. What its expressions need is compiled at the first write that it is about."""

    def __init__(self, given: Json, bindings: Sequence[Binding]) -> None:
        spec = given.get("spec") or {}
        self.given = given
        self.spec: Json = spec
        self.name: str = given["metadata"]["name"]
        self.bindings = bindings
        self.constraints = read_constraints(spec.get("matchConstraints") or {})
        self.ignores_failures = spec.get("failurePolicy") == "Ignore"
        self.param_kind: Json | None = spec.get("paramKind")
        conditions = spec.get("matchConditions")
        self.conditions = (
            MatchConditions(
                conditions,
                Holder(self.name, "policy", "validate"),  # of mutating policies, too
                ignores_failures=self.ignores_failures,
                params=self.param_kind is not None,
            )
            if conditions
            else None
        )

    @cached_property
    def variables(self) -> dict[str, Compiled]:
        """Each may use those before it."""
        return self._environment[1]

    @cached_property
    def _environment(self) -> tuple[Environment, dict[str, Compiled]]:
        environment = Environment(params=self.param_kind is not None, variables=True)
        found: dict[str, Compiled] = {}
        for variable in self.spec.get("variables") or ():
            found[variable["name"]] = Compiled(variable["expression"], environment)
            environment.define("", variable["name"], variable["expression"])
        return environment, found

    def compiled(self, texts: Sequence[str], *, authorizer: bool = True) -> list[Compiled]:
        environment = self._environment[0]
        return [Compiled(text, environment, authorizer=authorizer) for text in texts]

    @cached_property
    def validations(self) -> list[Compiled]:
        return self.compiled([each.get("expression", "") for each in self.spec.get("validations") or ()])

    @cached_property
    def messages(self) -> list[Compiled]:
        texts = [each.get("messageExpression") or "" for each in self.spec.get("validations") or ()]
        return self.compiled(texts, authorizer=False)

    @cached_property
    def annotations(self) -> list[Compiled]:
        return self.compiled([each.get("valueExpression", "") for each in self.spec.get("auditAnnotations") or ()])

    @cached_property
    def mutations(self) -> list[Compiled]:
        mutations = self.spec.get("mutations") or ()
        return self.compiled([_mutation(each) for each in mutations])


def _mutation(given: Json) -> str:
    patch: Json = given.get("applyConfiguration") or given.get("jsonPatch") or {}
    text: str = patch.get("expression") or ""
    return text


def read_policies(policies: Sequence[Json], bindings: Sequence[Json], before: Sequence[Policy] = ()) -> list[Policy]:
    """The policies that have bindings, by name; a policy without one does nothing. What is as it was `before` stays compiled."""
    bound: dict[str, list[Binding]] = {}
    for given in sorted(bindings, key=_name):
        binding = read_binding(given)
        bound.setdefault(binding.policy, []).append(binding)
    known = {id(policy.given): policy for policy in before}
    found: list[Policy] = []
    for given in sorted(policies, key=_name):
        if (mine := bound.get(_name(given))) is None:
            continue
        policy = known.get(id(given)) or Policy(given, mine)
        policy.bindings = mine
        found.append(policy)
    return found


def _name(obj: Json) -> str:
    return str(obj["metadata"]["name"])
