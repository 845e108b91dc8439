"""ValidatingAdmissionPolicy: what bindings say comes of validations that do not hold.

Source: apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`, `validator.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct, field

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.admission_policies import params
from setpoint.apiserver.admission_policies.asking import Answers
from setpoint.apiserver.admission_policies.definitions import Binding, Policy
from setpoint.apiserver.admission_policies.evaluating import Evaluation, OutOfBudget, Result, namespace_object
from setpoint.apiserver.admission_policies.matching import place
from setpoint.apiserver.admission_policies.metering import checked
from setpoint.apiserver.admission_policies.params import NotConfigured
from setpoint.apiserver.admission_policies.step import PolicyStep
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.registry.admission.chain import refuse
from setpoint.registry.admission.match_conditions import ConditionsFailed
from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.request import AdmissionRequest

FAILURE = "validation.policy.admission.k8s.io/validation_failure"
_LONGEST_MESSAGE, _LONGEST_ANNOTATION = 5 * 1024, 10 * 1024
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID = "Invalid"


class Decision(Struct, frozen=True):
    """One validation's; `message` is empty where it holds, and `ignored` what the failure policy ignores."""

    message: str = ""
    reason: str = ""
    ignored: str = ""
    seconds: float = 0.0


class Outcome(Struct):
    """What a policy came to for one parameter: decisions, values for the audit log, and what of those could not be had."""

    decisions: list[Decision] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    errors: list[Decision] = field(default_factory=list)


class Denial(Struct, frozen=True):
    """A reason to refuse the write."""

    policy: str
    binding: str
    decision: Decision

    def text(self) -> str:
        binding = f" with binding '{self.binding}'" if self.binding else ""
        return f"ValidatingAdmissionPolicy '{self.policy}'{binding} denied request: {self.decision.message}"


async def validate(step: PolicyStep, request: AdmissionRequest) -> None:
    """Refuse the write if a policy denies it; of several denials the first is the answer."""
    subject = Subject(request, step.pipeline)
    answers = Answers(subject)
    denials: list[Denial] = []
    for policy in step.policies:
        await _PolicyOverWrite(step, policy, subject, answers, denials).run()
    if denials:
        raise _refusal(request, denials[0])


def _refusal(request: AdmissionRequest, denial: Denial) -> StatusError:
    text = denial.text()
    forbidden = refuse(request, text)
    reason = denial.decision.reason or _INVALID
    details = {**(forbidden.details or {}), "causes": [{"message": text}]}
    return StatusError(_CODES.get(reason, 422), reason, forbidden.message, details)


class _PolicyOverWrite:
    """One policy over one write."""

    def __init__(self, step: PolicyStep, policy: Policy, subject: Subject, answers: Answers, denials: list[Denial]) -> None:
        self._step = step
        self._policy = policy
        self._subject = subject
        self._answers = answers
        self._denials = denials
        self._annotations: dict[str, list[str]] = {}

    async def run(self) -> None:
        try:
            target = await place(self._step.choice, self._policy.constraints, self._subject)
            if target is None:
                return
            kind = params.served_kind(self._step.pipeline, self._policy)
        except (StatusError, NotConfigured) as error:
            self._not_configured("policy", "", error)
            return
        for binding in self._policy.bindings:
            try:
                await self._bound(binding, target, kind)
            except (_Unusable, NotConfigured) as error:
                self._not_configured("binding", binding.name, error)
        for key, values in self._annotations.items():
            self._subject.request.context.annotations.setdefault(f"{self._policy.name}/{key}", ", ".join(values))

    def _not_configured(self, what: str, binding: str, error: Exception) -> None:
        if not self._policy.ignores_failures:
            message = f"failed to configure {what}: {error}"
            self._denials.append(Denial(self._policy.name, binding, Decision(message)))

    async def _bound(self, binding: Binding, target: Target, kind: Any) -> None:
        if binding.constraints is not None:
            try:
                if await place(self._step.choice, binding.constraints, self._subject) is None:
                    return
            except StatusError as error:
                raise _Unusable(error.message) from error
        for param in await params.collect(self._step.reader, kind, binding, self._subject.namespace):
            outcome = await self._evaluated(target, param)
            self._act(binding, outcome)

    async def _evaluated(self, target: Target, param: Mapping[str, Any] | None) -> Outcome:
        try:
            seen = await self._subject.seen(target)
        except StatusError as error:
            raise _Unusable(f"failed to convert object version: {error.message}") from error
        namespace = await self._step.namespace_of(self._subject)
        variables = {
            "object": seen.obj,
            "oldObject": seen.old,
            "request": self._subject.seen_request(target),
            "params": param,
        }
        conditions = self._policy.conditions
        if conditions is not None:
            try:
                if not await self._answers.evaluate(conditions.match, {**variables, **self._answers.variables()}):
                    return Outcome()
            except ConditionsFailed as error:
                return Outcome([Decision(str(error))])
        return await self._validated({**variables, "namespaceObject": namespace_object(namespace)})

    async def _validated(self, variables: Mapping[str, Any]) -> Outcome:
        policy = self._policy
        evaluation = Evaluation(policy, variables, self._answers)
        try:
            results = await evaluation.all(policy.validations)
            messages = await self._messages(results, Evaluation(policy, variables, self._answers, evaluation.budget))
            decisions = list(self._decisions(results, messages))
            annotations = await Evaluation(policy, variables, self._answers).all(policy.annotations)
        except OutOfBudget as error:
            return Outcome([self._error(str(error))])
        outcome = Outcome(decisions)
        self._annotate(outcome, annotations)
        return outcome

    async def _messages(self, results: Sequence[Result], evaluation: Evaluation) -> Sequence[Result] | str:
        """What message expressions say, which are asked only if a validation does not hold; a text where they cost too much."""
        if all(result.value is True for result in results):
            return [Result(given=False) for _ in results]
        try:
            return await evaluation.all(self._policy.messages)
        except OutOfBudget as error:
            return f"failed messageExpression: {error}"

    def _decisions(self, results: Sequence[Result], messages: Sequence[Result] | str) -> Iterator[Decision]:
        validations = self._policy.spec.get("validations") or ()
        for index, (validation, result) in enumerate(zip(validations, results, strict=True)):
            if result.error or isinstance(messages, str):
                yield self._error(result.error or str(messages), result.seconds)
            elif result.value is True:
                yield Decision()
            else:
                yield Decision(_message(validation, messages[index]), validation.get("reason") or _INVALID, "", result.seconds)

    def _error(self, why: str, seconds: float = 0.0) -> Decision:
        return Decision(ignored=why, seconds=seconds) if self._policy.ignores_failures else Decision(why, seconds=seconds)

    def _annotate(self, outcome: Outcome, results: Sequence[Result]) -> None:
        for given, result in zip(self._policy.spec.get("auditAnnotations") or (), results, strict=True):
            if result.error:
                if not self._policy.ignores_failures:
                    outcome.errors.append(Decision(result.error))
            elif isinstance(result.value, str) and (text := result.value.strip()):
                outcome.annotations.append((given["key"], text))
            elif result.value is not None and not isinstance(result.value, str):
                from setpoint.api.machinery.cel.values import type_name

                shown = f"valueExpression '{given['valueExpression']}' resulted in unsupported return type"
                why = f"{shown}: {type_name(result.value)}. Return type must be either string or null."
                outcome.errors.append(Decision(why))

    def _act(self, binding: Binding, outcome: Outcome) -> None:
        for index, decision in enumerate(outcome.decisions):
            if decision.message:
                self._failed(binding, index, decision)
            elif decision.ignored:
                checked(self._policy.name, binding.name, decision.ignored, "allow", decision.seconds)
        for key, value in outcome.annotations:
            values = self._annotations.setdefault(key, [])
            if (shortened := value[:_LONGEST_ANNOTATION]) not in values:
                values.append(shortened)
        for decision in outcome.errors:
            self._denials.append(Denial(self._policy.name, binding.name, decision))
            checked(self._policy.name, binding.name, decision.message, "deny", decision.seconds)

    def _failed(self, binding: Binding, index: int, decision: Decision) -> None:
        context = self._subject.request.context
        for action in binding.actions:
            checked(self._policy.name, binding.name, decision.message, action.lower(), decision.seconds)
            if action == "Deny":
                self._denials.append(Denial(self._policy.name, binding.name, decision))
            elif action == "Warn":
                what = f"ValidatingAdmissionPolicy '{self._policy.name}' with binding '{binding.name}'"
                context.warnings.append(f"Validation failed for {what}: {decision.message}")
            elif action == "Audit":
                failure = {
                    "message": decision.message,
                    "policy": binding.policy,
                    "binding": binding.name,
                    "expressionIndex": index,
                    "validationActions": list(binding.actions),
                }
                context.annotations.setdefault(FAILURE, orjson.dumps([failure]).decode())


class _Unusable(Exception):
    """A binding that cannot be looked at for this write."""


def _message(validation: Mapping[str, Any], result: Result) -> str:
    """The message expression's text if it is a short line, else the message, else the expression."""
    value = result.value if isinstance(result.value, str) else ""
    text = value.strip()
    if len(text.encode()) > _LONGEST_MESSAGE or "\n" in text:
        text = ""
    text = text or str(validation.get("message") or "").strip()
    return text or f"failed expression: {str(validation.get('expression') or '').strip()}"
