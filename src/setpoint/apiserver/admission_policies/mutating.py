"""MutatingAdmissionPolicy: policies change an object one after the other, each sees what those before it made of it.

Where a later one changed it, those that want to (`reinvocationPolicy: IfNeeded`) see it a second time, together with the plugins
of the server itself. Source: apiserver `pkg/admission/plugin/policy/mutating/dispatcher.go`, `reinvocationcontext.go`,
`policy/generic/policy_dispatcher.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.admission_policies import params, patching
from setpoint.apiserver.admission_policies.asking import Answers
from setpoint.apiserver.admission_policies.definitions import Binding, Compiled, Policy
from setpoint.apiserver.admission_policies.evaluating import Evaluation, OutOfBudget, namespace_object
from setpoint.apiserver.admission_policies.matching import place
from setpoint.apiserver.admission_policies.metering import mutated
from setpoint.apiserver.admission_policies.params import NotConfigured
from setpoint.apiserver.admission_policies.patching import Unpatched
from setpoint.apiserver.admission_policies.step import PolicyStep
from setpoint.apiserver.admission_webhooks import patching as objects
from setpoint.apiserver.admission_webhooks.subject import Seen, Subject
from setpoint.registry.admission.chain import refuse
from setpoint.registry.admission.match_conditions import ConditionsFailed
from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.request import AdmissionRequest

NAME = "MutatingAdmissionPolicy"
Param = Mapping[str, Any] | None


class Invocation(Struct, frozen=True):
    """A policy that is about the write, by one of its bindings, with one parameter."""

    policy: Policy
    binding: Binding
    param: Param
    target: Target

    @property
    def key(self) -> tuple[str, ...]:
        metadata = (self.param or {}).get("metadata") or {}
        return self.policy.name, self.binding.name, metadata.get("namespace", ""), metadata.get("name", "")


class Failure(Struct, frozen=True):
    """Why the write is refused."""

    text: str
    reason: str


async def admit(step: PolicyStep, request: AdmissionRequest) -> None:
    """Let the policies change the write's object."""
    if request.obj is None:
        return
    await _PoliciesOverWrite(step, request).run()


class _PoliciesOverWrite:
    """All policies over one write."""

    def __init__(self, step: PolicyStep, request: AdmissionRequest) -> None:
        self._step = step
        self._request = request
        self._subject = Subject(request, step.pipeline, hide=True)
        self._answers = Answers(self._subject)
        self._state = request.reinvocation(NAME)
        self._failures: list[Failure] = []

    async def run(self) -> None:
        found = [invocation for policy in self._step.policies for invocation in await self._invocations(policy)]
        if found:
            await self._invoke(found)
        if self._failures:
            raise self._refusal()

    async def _invoke(self, found: list[Invocation]) -> None:
        state, request = self._state, self._request
        if request.reinvoking and state.output != orjson.dumps(request.obj):
            state.bring_back()
        namespace = namespace_object(await self._step.namespace_of(self._subject))
        for invocation in found:
            await self._one(invocation, namespace)
        state.output = orjson.dumps(request.obj)

    def _refusal(self) -> StatusError:
        forbidden = refuse(self._request, "admission request denied by policy")
        details = {**(forbidden.details or {}), "causes": [{"message": each.text} for each in self._failures]}
        return StatusError(403, self._failures[0].reason, self._failures[0].text, details)

    def _failed(self, policy: Policy, binding: str, why: str, reason: str = "Invalid") -> None:
        if not policy.ignores_failures:
            bound = f" with binding '{binding}'" if binding else ""
            self._failures.append(Failure(f"policy '{policy.name}'{bound} denied request: {why}", reason))

    def _not_configured(self, policy: Policy, binding: str, error: Exception) -> None:
        what = "binding" if binding else "policy"
        self._failed(policy, binding, f"failed to configure {what}: {error}", "Forbidden")

    async def _invocations(self, policy: Policy) -> list[Invocation]:
        try:
            target = await place(self._step.choice, policy.constraints, self._subject)
            if target is None:
                return []
            kind = params.served_kind(self._step.pipeline, policy)
        except (StatusError, NotConfigured) as error:
            self._not_configured(policy, "", error)
            return []
        found: list[Invocation] = []
        for binding in policy.bindings:
            try:
                if await self._is_bound(binding):
                    given = await params.collect(self._step.reader, kind, binding, self._subject.namespace)
                    found += [Invocation(policy, binding, param, target) for param in given]
            except (StatusError, NotConfigured) as error:
                self._not_configured(policy, binding.name, error)
        return found

    async def _is_bound(self, binding: Binding) -> bool:
        return binding.constraints is None or await place(self._step.choice, binding.constraints, self._subject) is not None

    async def _one(self, invocation: Invocation, namespace: Mapping[str, Any] | None) -> None:
        policy, state = invocation.policy, self._state
        seen = await self._subject.seen(invocation.target)
        try:
            if not await self._conditions_hold(invocation, seen):
                return
        except ConditionsFailed as error:
            self._failed(policy, invocation.binding.name, str(error))
            return
        if self._request.reinvoking and invocation.key not in state.again:
            return
        before = orjson.dumps(self._request.obj)
        for compiled, mutation in zip(policy.mutations, policy.spec.get("mutations") or (), strict=True):
            try:
                with mutated(policy.name, invocation.binding.name):
                    await self._mutate(invocation, compiled, mutation.get("patchType", ""), namespace)
            except (Unpatched, OutOfBudget) as error:
                self._failed(policy, invocation.binding.name, str(error))
        if orjson.dumps(self._request.obj) != before:
            state.bring_back()
            self._request.reinvoke = True
        if policy.spec.get("reinvocationPolicy") == "IfNeeded":
            state.asked.add(invocation.key)

    async def _conditions_hold(self, invocation: Invocation, seen: Seen) -> bool:
        conditions = invocation.policy.conditions
        if conditions is None:
            return True
        variables = {**self._variables(invocation, seen), **self._answers.variables()}
        return await self._answers.evaluate(conditions.match, variables)

    def _variables(self, invocation: Invocation, seen: Seen) -> dict[str, Any]:
        return {
            "object": seen.obj,
            "oldObject": seen.old,
            "request": self._subject.seen_request(invocation.target),
            "params": invocation.param,
        }

    async def _mutate(
        self, invocation: Invocation, compiled: Compiled, patch_type: str, namespace: Mapping[str, Any] | None
    ) -> None:
        target = invocation.target
        seen = await self._subject.seen(target)
        if seen.obj is None:
            return
        variables = {**self._variables(invocation, seen), "namespaceObject": namespace}
        result = await Evaluation(invocation.policy, variables, self._answers).one(compiled)
        if result.error:
            raise Unpatched(result.error)
        if patch_type == "JSONPatch":
            patched = patching.json_patched(seen.obj, result.value)
        else:
            patched = patching.applied(seen.obj, result.value, self._node(target))
        if patched is not seen.obj and patched != seen.obj:
            await objects.take(self._subject, target, patched)
        self._subject.changed()

    def _node(self, target: Target) -> Any:
        """The schema of what is written. Subresources with a body of their own have none here: they are merged freely."""
        served = self._subject.served(target)
        if served is None or not self._subject.is_whole() or self._request.shown is not None:
            return None
        return self._step.pipeline.bodies.node(served.resource, served.version)
