"""The authoriser as expressions ask it: each question once per write.

An expression cannot wait. What it asks for the first time ends its evaluation; then the answer is got, and it is evaluated anew.
Source: apiserver `pkg/cel/library/authz.go`, `pkg/admission/plugin/authorizer/caching_authorizer.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from setpoint.api.machinery.cel.functions.authorization import Authorizer, Question, ResourceCheck, Verdict
from setpoint.api.machinery.field_selectors import parse_fields
from setpoint.api.machinery.selectors import parse_labels
from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.apiserver.routing import RequestInfo

T = TypeVar("T")


class _Unanswered(Exception):
    """A question that was not asked before."""

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.question = question


class Answers:
    """What the authoriser said about one write's questions."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._known: dict[Question, Verdict] = {}

    def variables(self) -> dict[str, Any]:
        """The variables of expressions that ask."""
        target, name = self._subject.target, self._subject.name
        here = Question(
            group=target.group,
            resource=target.plural,
            subresource=target.subresource,
            namespace=self._subject.namespace,
            name=name,
        )
        return {"authorizer": Authorizer(self._decide), "authorizer.requestResource": ResourceCheck(self._decide, here)}

    async def evaluate(self, run: Callable[..., T], *given: Any) -> T:
        """What `run` gives when all that it asks is answered."""
        while True:
            try:
                return run(*given)
            except _Unanswered as asked:
                self._known[asked.question] = await self._ask(asked.question)

    def _decide(self, question: Question) -> Verdict:
        found = self._known.get(question)
        if found is None:
            raise _Unanswered(question)
        return found

    async def _ask(self, question: Question) -> Verdict:
        authorizer: Any = self._subject.pipeline.authorizer
        if authorizer is None:
            return Verdict(allowed=True)
        try:
            decision = await authorizer.decide(_user(question, self._subject.request.context.user), _info(question))
        except StatusError as error:
            return Verdict(allowed=False, error=error.message)
        return Verdict(allowed=bool(decision.allowed), reason=decision.reason, error=decision.error)


def _user(question: Question, present: UserInfo) -> UserInfo:
    namespace, name = question.account
    if not name:
        return present
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"system:serviceaccount:{namespace}:{name}", groups=groups)


def _info(question: Question) -> RequestInfo:
    if question.path:
        return RequestInfo(is_resource=False, path=question.path, verb=question.verb)
    info = RequestInfo(
        is_resource=True,
        path="",
        verb=question.verb,
        group=question.group,
        version="*",
        namespace=question.namespace,
        resource=question.resource,
        name=question.name,
        subresource=question.subresource,
    )
    if question.fields:
        info.fields = _readable(parse_fields, question.fields)
    if question.labels:
        info.labels = _readable(parse_labels, question.labels)
    return info


def _readable(parse: Callable[[str], T], text: str) -> T | None:
    """A selector that cannot be read narrows nothing."""
    try:
        return parse(text)
    except (StatusError, ValueError):
        return None
