"""Tells in a validating admission policy's status what is wrong with its expressions for the kinds that it names.

A policy is stored without anybody knowing what kinds its rules will meet; this looks them up. What it finds changes nothing of
what the policy does. Source: Kubernetes `pkg/controller/validatingadmissionpolicystatus`, apiserver
`pkg/admission/plugin/policy/validating/typechecking.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import msgspec

from setpoint.api.machinery.cel.admission import Environment
from setpoint.api.machinery.cel.node_types import type_of_node
from setpoint.api.machinery.cel.schema_types import declare
from setpoint.api.machinery.cel.source import CompileError
from setpoint.api.machinery.cel.types import Type
from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.admissionregistration_v1 import VALIDATINGADMISSIONPOLICIES, ValidatingAdmissionPolicy
from setpoint.client.client import Client
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context

NAME = "validatingadmissionpolicy-status-controller"
_MOST_KINDS = 10

Kind = tuple[str, str, str]


class Observed(msgspec.Struct, frozen=True):
    """A policy that was not looked at since it changed, and the types of the kinds that it is about.

    Without a type of the parameters expressions may not mention those.
    """

    policy: ValidatingAdmissionPolicy
    kinds: Sequence[tuple[Kind, Type]]
    params: Type | None


class Plan(msgspec.Struct, frozen=True):
    """Write the status."""

    policy: str
    generation: int
    warnings: Sequence[Mapping[str, str]]


class StatusReconciler:
    """Keys are policies."""

    def __init__(self, client: Client, policies: Store[ValidatingAdmissionPolicy]) -> None:
        self._client = client
        self._policies = policies

    async def observe(self, name: str) -> Observed | None:
        policy = self._policies.get(name)
        if policy is None or policy.metadata.generation <= policy.status.observed_generation:
            return None
        served = await self._served()
        kinds = [(kind, known) for kind in _kinds(policy, served) if (known := await self._type(kind)) is not None]
        return Observed(policy, kinds, await self._params(policy))

    def diff(self, observed: Observed) -> Plan | None:
        metadata = observed.policy.metadata
        return Plan(metadata.name, metadata.generation, list(_warnings(observed)))

    async def act(self, plan: Plan) -> Result | None:
        checking = {"expressionWarnings": plan.warnings} if plan.warnings else {}
        status = {"observedGeneration": plan.generation, "typeChecking": checking}
        body = {"metadata": {"name": plan.policy}, "status": status}
        await self._client.apply(VALIDATINGADMISSIONPOLICIES, body, force=True, subresource="status", manager=NAME)
        return None

    async def _served(self) -> Mapping[tuple[str, str, str], str]:
        """The kind of each (group, version, plural)."""
        return {
            (group["metadata"].get("name", ""), version["version"], resource["resource"]): resource["responseKind"]["kind"]
            for group in await self._client.discovery()
            for version in group.get("versions") or ()
            for resource in version.get("resources") or ()
        }

    async def _params(self, policy: ValidatingAdmissionPolicy) -> Type | None:
        kind = policy.spec.param_kind
        if kind is None:
            return None
        group, _, version = kind.api_version.rpartition("/")
        return await self._type((group, version, kind.kind))

    async def _type(self, kind: Kind) -> Type | None:
        """The type of a kind's objects, None where there is no schema."""
        pack = trees.load()
        definition = pack.definition_of(*kind)
        return type_of_node(pack.tree(definition)) if definition is not None else await self._custom(kind)

    async def _custom(self, kind: Kind) -> Type | None:
        group, version, name = kind
        try:
            document = await self._client.raw("GET", f"/openapi/v3/apis/{group}/{version}")
        except StatusError:
            return None
        wanted = {"group": group, "version": version, "kind": name}
        for schema in document.get("components", {}).get("schemas", {}).values():
            if wanted in (schema.get("x-kubernetes-group-version-kind") or ()):
                declared = declare(schema, root=True)
                return declared.type if declared is not None else None
        return None


def _kinds(policy: ValidatingAdmissionPolicy, served: Mapping[tuple[str, str, str], str]) -> list[Kind]:
    """The kinds that a policy's rules name, ten at most. Rules with wildcards name none, subresources neither."""
    found: set[Kind] = set()
    constraints = policy.spec.match_constraints
    for rule in constraints.resource_rules if constraints is not None else ():
        if any("*" in word for word in (*rule.api_groups, *rule.api_versions)):
            continue
        plurals = [word for word in rule.resources if "*" not in word and "/" not in word]
        for place in product(rule.api_groups, rule.api_versions, plurals):
            if place in served and len(found) < _MOST_KINDS:
                found.add((place[0], place[1], served[place]))
    return sorted(found)


def _warnings(observed: Observed) -> Iterator[Mapping[str, str]]:
    for index, validation in enumerate(observed.policy.spec.validations):
        texts = {"expression": validation.expression, "messageExpression": validation.message_expression}
        for field, text in texts.items():
            if text and (complaint := _complaint(observed, text)):
                yield {"fieldRef": f"spec.validations[{index}].{field}", "warning": complaint}


def _complaint(observed: Observed, text: str) -> str:
    """What is wrong with an expression, some lines per kind, and an empty one between kinds."""
    return "\n".join(filter(None, (_for_kind(observed, kind, known, text) for kind, known in observed.kinds)))


def _for_kind(observed: Observed, kind: Kind, known: Type, text: str) -> str:
    environment = _environment(observed, known)
    try:
        environment.type_of(text)
    except CompileError as error:
        group, version, name = kind
        return f"{group}/{version}, Kind={name}: {error}\n"
    return ""


def _environment(observed: Observed, known: Type) -> Environment:
    types: dict[str, Any] = {"object": known, "oldObject": known}
    if observed.params is not None:
        types["params"] = observed.params
    environment = Environment(params=observed.params is not None, variables=True, known=types)
    for variable in observed.policy.spec.variables:
        try:
            environment.add(variable.name, variable.expression)
        except CompileError:
            continue  # told where it is used, if at all
    return environment


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    policies = context.informers.of(VALIDATINGADMISSIONPOLICIES)
    reconciler = StatusReconciler(context.client, policies.store)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(policies,))

    controller.follow(policies)
    return controller
