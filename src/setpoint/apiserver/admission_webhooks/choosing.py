"""Whether a webhook is asked about a write, and in which version.

Selectors come first, since they cost nothing; what goes wrong with them counts only where a rule is about the write.
Source: apiserver `pkg/admission/plugin/webhook/generic/webhook.go` (ShouldCallHook), `predicates/namespace`, `predicates/object`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.machinery.status import StatusError, forbidden_object, internal_error, not_found
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.registry.admission.match_conditions import ConditionsFailed
from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.reader import Reader


class Choice:
    """Decides with what it may read of namespaces."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def place(self, hook: Hook, subject: Subject) -> Target | None:
        """The place whose form the webhook gets; None when it is not asked. Raises StatusError."""
        in_namespace = await self.in_namespace(hook.namespaces, subject)
        if in_namespace is False or not has_labels(hook.objects, subject):
            return None
        target = _target(hook, subject)
        if target is None:
            return None
        if isinstance(in_namespace, StatusError):
            raise in_namespace
        return target if await _conditions_hold(hook, subject, target) else None

    async def in_namespace(self, selector: LabelSelector, subject: Subject) -> bool | StatusError:
        """Whether the selector takes the namespace of the write; an error where that namespace cannot be found."""
        request, target = subject.request, subject.target
        is_namespace = target.plural == "namespaces" and not target.group
        if not subject.namespace and not is_namespace:
            return True
        if selector.everything:
            return True
        if is_namespace and not target.subresource and request.operation in ("CREATE", "UPDATE"):
            labels = _labels(request.obj)
        else:
            namespace = await self._reader.get("namespaces", "", subject.namespace)
            if namespace is None:
                return not_found("", "namespaces", subject.namespace)
            labels = namespace["metadata"].get("labels") or {}
        return selector.matches(labels)


def has_labels(selector: LabelSelector, subject: Subject) -> bool:
    """Whether the object has them, or had them before. What has no metadata has none."""
    if selector.everything:
        return True
    candidates = (subject.request.obj, subject.request.old)
    return any(
        selector.matches(_labels(each)) for each in candidates if each is not None and isinstance(each.get("metadata"), dict)
    )


def _labels(obj: Mapping[str, Any] | None) -> Mapping[str, str]:
    labels: Mapping[str, str] = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return labels


def _target(hook: Hook, subject: Subject) -> Target | None:
    operation = subject.request.operation
    if any(rule.matches(operation, subject.target) for rule in hook.rules):
        return subject.target
    if not hook.equivalent:
        return None
    others = subject.equivalents()
    return next((other for rule in hook.rules for other in others if rule.matches(operation, other)), None)


async def _conditions_hold(hook: Hook, subject: Subject, target: Target) -> bool:
    if hook.conditions is None:
        return True
    try:
        seen = await subject.seen(target)
    except StatusError as error:
        raise internal_error(error.message) from error
    variables = {"object": seen.obj, "oldObject": seen.old, "request": subject.seen_request(target)}
    from setpoint.apiserver.admission_policies.asking import Answers  # a start needs none of what it needs

    answers = Answers(subject)
    try:
        return await answers.evaluate(hook.conditions.match, {**variables, **answers.variables()})
    except ConditionsFailed as error:
        resource = subject.request.resource
        raise forbidden_object(resource.group, resource.plural, subject.name, str(error)) from error
