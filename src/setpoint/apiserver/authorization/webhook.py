"""The webhook authoriser: asks another server by SubjectAccessReviews.

Answers are remembered for a while, as the configuration says; refusals shorter than consents. Conditions (CEL over the review's
spec) decide what is asked at all. A webhook that cannot be asked denies or has no opinion, by its failure policy.
Source: apiserver `plugin/pkg/authorizer/webhook`, KEP-3221 (structured authorization configuration).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.field_selectors import FieldSelector
from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.attributes import name_of
from setpoint.apiserver.authorization.decision import NO_OPINION, Decision
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit import logs
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.api.machinery.cel.types import Type

log = logs.get_logger("apiserver.authorization")

_API_VERSION = "authorization.k8s.io/v1"
_REMEMBERED = 8192
_LONGEST = 10_000  # bytes of a question that is remembered
_LABEL_OPERATORS = {"in": "In", "=": "In", "==": "In", "notin": "NotIn", "!=": "NotIn", "exists": "Exists", "!": "DoesNotExist"}

#: posts a review and gives the answer's body; raises OSError or ValueError when that fails
Ask = Callable[[bytes], Awaitable[bytes]]


class Policy(Struct, frozen=True):
    """How one webhook is used: `authorizers[].webhook` of an AuthorizationConfiguration. Times in seconds."""

    name: str
    denies_on_failure: bool
    timeout: float = 3.0
    authorized_seconds: float = 300.0
    unauthorized_seconds: float = 30.0
    conditions: tuple[str, ...] = ()


class _Answer(Struct, frozen=True):
    until: float
    decision: Decision


class WebhookAuthorizer:
    """One webhook."""

    def __init__(self, policy: Policy, ask: Ask, clock: Clock) -> None:
        self._policy = policy
        self._ask = ask
        self._clock = clock
        self._conditions: list[Expression] | None = None
        self._answers: OrderedDict[bytes, _Answer] = OrderedDict()

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        spec = review_spec(user, info)
        if self._policy.conditions:
            matches, error = self._matches(spec)
            if error:
                return self._failed(error)
            if not matches:
                return NO_OPINION
        key = orjson.dumps(spec)
        known = self._answers.get(key)
        if known is not None and known.until > self._clock.monotonic():
            return known.decision
        return await self._asked(key, spec)

    async def _asked(self, key: bytes, spec: Mapping[str, Any]) -> Decision:
        head = {"kind": "SubjectAccessReview", "apiVersion": _API_VERSION, "metadata": {}}
        review = {**head, "spec": spec, "status": {"allowed": False}}
        try:
            async with asyncio.timeout(self._policy.timeout):
                answer = await self._ask(orjson.dumps(review))
            decision = _decision(orjson.loads(answer).get("status") or {})
        except (OSError, ValueError, AttributeError) as error:
            log.warning("an authorisation webhook cannot be asked", webhook=self._policy.name, error=str(error))
            return self._failed(str(error) or "context deadline exceeded")
        seconds = self._policy.authorized_seconds if decision.allowed else self._policy.unauthorized_seconds
        if seconds > 0 and len(key) < _LONGEST:
            self._answers[key] = _Answer(self._clock.monotonic() + seconds, decision)
            self._answers.move_to_end(key)
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return decision

    def _failed(self, error: str) -> Decision:
        return Decision(False if self._policy.denies_on_failure else None, "", error)

    def _matches(self, spec: Mapping[str, Any]) -> tuple[bool, str]:
        """Whether all conditions hold; one that is false counts more than those that fail."""
        if self._conditions is None:
            self._conditions = [compiled(text) for text in self._policy.conditions]
        errors: list[str] = []
        for text, condition in zip(self._policy.conditions, self._conditions, strict=True):
            outcome = condition.evaluate([spec])
            if outcome.error:
                errors.append(f"cel evaluation error: expression '{text}' resulted in error: {outcome.error}")
            elif outcome.value is not True:
                return False, ""
        return not errors, errors[0] if errors else ""


def _decision(status: Mapping[str, Any]) -> Decision:
    allowed, denied, reason = bool(status.get("allowed")), bool(status.get("denied")), str(status.get("reason") or "")
    if allowed and denied:
        return Decision(False, reason, "webhook subject access review returned both allow and deny response")
    return Decision(False if denied else True if allowed else None, reason)


def review_spec(user: UserInfo, info: RequestInfo) -> dict[str, Any]:
    """The `spec` of a SubjectAccessReview for a request."""
    spec: dict[str, Any] = {"user": user.name}
    if info.is_resource:
        spec["resourceAttributes"] = _resource_attributes(info)
    else:
        spec["nonResourceAttributes"] = {"path": info.path, "verb": info.verb}
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.uid:
        spec["uid"] = user.uid
    if user.extra:
        spec["extra"] = {name: list(values) for name, values in user.extra.items()}
    return spec


def _resource_attributes(info: RequestInfo) -> dict[str, Any]:
    found = {
        "namespace": info.namespace,
        "verb": info.verb,
        "group": info.group,
        "version": info.version,
        "resource": info.resource,
        "subresource": info.subresource,
        "name": name_of(info),
    }
    attributes: dict[str, Any] = {field: value for field, value in found.items() if value}
    for field, requirements in (("fieldSelector", _field_terms(info.fields)), ("labelSelector", _label_terms(info.labels))):
        if requirements:
            attributes[field] = {"requirements": requirements}
    return attributes


def _field_terms(selector: FieldSelector | None) -> list[dict[str, Any]]:
    terms = selector.requirements if selector is not None else ()
    return [{"key": each.field, "operator": "In" if each.equal else "NotIn", "values": [each.value]} for each in terms]


def _label_terms(selector: LabelSelector | None) -> list[dict[str, Any]]:
    """Operators that a LabelSelectorRequirement does not know narrow nothing and are left out."""
    found = []
    for each in selector.requirements if selector is not None else ():
        operator = _LABEL_OPERATORS.get(each.operator)
        if operator is not None:
            values = {"values": list(each.values)} if each.values else {}
            found.append({"key": each.key, "operator": operator, **values})
    return found


@cache
def _variables() -> Mapping[str, Type]:
    from setpoint.api.machinery.cel.types import ObjectScope, list_of, object_type, parse_type

    def typed(name: str, fields: Mapping[str, str | Type]) -> Type:
        scope = {field: parse_type(kind) if isinstance(kind, str) else kind for field, kind in fields.items()}
        return object_type(ObjectScope(f"kubernetes.{name}", scope))

    requirement = {"key": "string", "operator": "string", "values": "list(string)"}
    selectors = {
        name: typed(name, {"rawSelector": "string", "requirements": list_of(typed(f"{name}Requirement", requirement))})
        for name in ("FieldSelector", "LabelSelector")
    }
    words = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
    resource: dict[str, str | Type] = dict.fromkeys(words, "string")
    resource |= {"fieldSelector": selectors["FieldSelector"], "labelSelector": selectors["LabelSelector"]}
    spec: dict[str, str | Type] = {
        "resourceAttributes": typed("ResourceAttributes", resource),
        "nonResourceAttributes": typed("NonResourceAttributes", {"path": "string", "verb": "string"}),
        "user": "string",
        "groups": "list(string)",
        "extra": "map(string,list(string))",
        "uid": "string",
    }
    return {"request": typed("SubjectAccessReviewSpec", spec)}


def compiled(text: str) -> Expression:
    """A match condition; raises CompileError."""
    from setpoint.api.machinery.cel import compile_expression

    return compile_expression(text, _variables())


def complaint(text: str) -> str:
    """What is wrong with a match condition; empty if nothing is."""
    from setpoint.api.machinery.cel.source import CompileError

    try:
        kind = str(compiled(text).type)
    except CompileError as error:
        return f"compilation failed: {error}"
    return "" if kind in ("bool", "dyn") else "must evaluate to bool"
