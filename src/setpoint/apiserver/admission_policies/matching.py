"""What policies and bindings are about. Source: apiserver `pkg/admission/plugin/policy/matching/matching.go`."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.admission_policies.definitions import Constraints
from setpoint.apiserver.admission_webhooks.choosing import Choice, has_labels
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.registry.admission.matching import Rule, Target


async def place(choice: Choice, constraints: Constraints, subject: Subject) -> Target | None:
    """The place whose form the policy sees; None when it is not about the write. Raises StatusError."""
    in_namespace = await choice.in_namespace(constraints.namespaces, subject)
    if in_namespace is False or not has_labels(constraints.objects, subject):
        return None
    if _found(constraints.excluded, subject, equivalent=constraints.equivalent) is not None:
        return None
    target = subject.target
    if constraints.rules:
        found = _found(constraints.rules, subject, equivalent=constraints.equivalent)
        if found is None:
            return None
        target = found
    if isinstance(in_namespace, StatusError):
        raise in_namespace
    return target


def _found(rules: Sequence[Rule], subject: Subject, *, equivalent: bool) -> Target | None:
    operation, name = subject.request.operation, subject.name
    if any(rule.matches(operation, subject.target, name) for rule in rules):
        return subject.target
    if not equivalent or not rules:
        return None
    others = subject.equivalents()
    return next((other for rule in rules for other in others if rule.matches(operation, other, name)), None)
