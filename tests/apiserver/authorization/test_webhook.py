"""The webhook authoriser and the configuration that names it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.field_selectors import parse_fields
from setpoint.api.machinery.selectors import parse_labels
from setpoint.apiserver.authorization.configuration import parse, read
from setpoint.apiserver.authorization.union import AlwaysDeny, Masters, Union
from setpoint.apiserver.authorization.webhook import Policy, WebhookAuthorizer
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import VirtualClock

from .conftest import person

DEV = person("dev", "team")
PODS = RequestInfo(is_resource=True, path="/api/v1/pods", verb="list", version="v1", resource="pods", namespace="a")


class Hook:
    """A webhook in this process; notes what it is asked."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any], **policy: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self.clock = VirtualClock()
        self._answer = answer
        self.authorizer = WebhookAuthorizer(Policy("w", **{"denies_on_failure": False, **policy}), self._ask, self.clock)

    async def _ask(self, body: bytes) -> bytes:
        review = orjson.loads(body)
        self.asked.append(review)
        answer = self._answer(review["spec"])
        if isinstance(answer, Exception):
            raise answer
        if asyncio.iscoroutine(answer):
            await answer
        return orjson.dumps({"kind": "SubjectAccessReview", "status": answer})


async def test_it_is_asked_a_review() -> None:
    hook = Hook(lambda _: {"allowed": True, "reason": "why not"})
    info = RequestInfo(
        is_resource=True,
        path="",
        verb="list",
        group="apps",
        version="v1",
        namespace="a",
        resource="deployments",
        subresource="scale",
        fields=parse_fields("metadata.name!=x"),
        labels=parse_labels("app in (b,a),!c,d>1"),
    )
    decision = await hook.authorizer.decide(DEV, info)
    assert (decision.allowed, decision.reason) == (True, "why not")
    assert hook.asked[0]["spec"] == {
        "user": "dev",
        "groups": ["team", "system:authenticated"],
        "resourceAttributes": {
            "namespace": "a",
            "verb": "list",
            "group": "apps",
            "version": "v1",
            "resource": "deployments",
            "subresource": "scale",
            "fieldSelector": {"requirements": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}]},
            "labelSelector": {
                "requirements": [{"key": "app", "operator": "In", "values": ["a", "b"]}, {"key": "c", "operator": "DoesNotExist"}]
            },
        },
    }


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ({"allowed": True}, True),
        ({"allowed": False}, None),
        ({"denied": True}, False),
        ({"allowed": True, "denied": True}, False),
        ({}, None),
    ],
)
async def test_answers(status: dict[str, bool], *, allowed: bool | None) -> None:
    assert (await Hook(lambda _: status).authorizer.decide(DEV, PODS)).allowed is allowed


async def test_answers_are_remembered_for_their_time() -> None:
    hook = Hook(lambda spec: {"allowed": spec["user"] == "dev"})
    for who, seconds in ((DEV, 300), (person("other"), 30)):
        hook.asked.clear()
        await hook.authorizer.decide(who, PODS)
        await hook.authorizer.decide(who, PODS)
        assert len(hook.asked) == 1
        hook.clock.jump(seconds + 1)
        await hook.authorizer.decide(who, PODS)
        assert len(hook.asked) == 2


@pytest.mark.parametrize("denies", [True, False])
@pytest.mark.parametrize("failure", [ConnectionError("refused"), ValueError("500"), "no status", None])
async def test_a_webhook_that_cannot_be_asked_goes_by_its_policy(failure: Any, *, denies: bool) -> None:
    decision = await Hook(lambda _: failure or asyncio.sleep(10), denies_on_failure=denies, timeout=0.01).authorizer.decide(
        DEV, PODS
    )
    assert decision.allowed is (False if denies else None)
    assert decision.error


@pytest.mark.parametrize(
    ("conditions", "asked", "allowed"),
    [
        (("has(request.resourceAttributes)",), True, True),
        (("!has(request.resourceAttributes)",), False, None),
        (("request.resourceAttributes.namespace == 'b'",), False, None),
        (("request.user == 'dev' && 'team' in request.groups", "request.resourceAttributes.verb == 'list'"), True, True),
        (("request.nonResourceAttributes.path == '/'",), False, False),  # an error: the failure policy denies
        (("request.nonResourceAttributes.path == '/'", "request.user == 'other'"), False, None),
    ],
)
async def test_conditions_say_what_is_asked(conditions: tuple[str, ...], *, asked: bool, allowed: bool | None) -> None:
    hook = Hook(lambda _: {"allowed": True}, conditions=conditions, denies_on_failure=True)
    assert (await hook.authorizer.decide(DEV, PODS)).allowed is allowed
    assert bool(hook.asked) is asked


async def test_a_denial_ends_the_row_and_masters_are_not_asked_about() -> None:
    first, second = Hook(lambda _: {"denied": True}), Hook(lambda _: {"allowed": True})
    door = Union((Masters(), first.authorizer, second.authorizer))
    assert (await door.decide(DEV, PODS)).allowed is False
    assert not second.asked
    assert (await door.decide(person("root", "system:masters"), PODS)).allowed
    assert len(first.asked) == 1
    assert (await Union((AlwaysDeny(), second.authorizer)).decide(DEV, PODS)).allowed


def hook(**more: Any) -> dict[str, Any]:
    webhook = {
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/k"},
    }
    return {"type": "Webhook", "name": "w", "webhook": {**webhook, **more}}


def test_a_configuration_becomes_entries(tmp_path: Path) -> None:
    conditions = [{"expression": "request.user != ''"}]
    given = [
        {"type": "Node"},
        hook(authorizedTTL="1m30s", cacheUnauthorizedRequests=False, matchConditions=conditions),
        {"type": "RBAC"},
    ]
    document = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": given}
    file = tmp_path / "authorization.yaml"
    file.write_text(orjson.dumps(document).decode())
    entries = read(file)
    assert [entry.type for entry in entries] == ["Node", "Webhook", "RBAC"]
    assert entries[1].policy == Policy("w", False, 3.0, 90.0, 0.0, ("request.user != ''",))
    assert entries[1].kubeconfig == "/k"


@pytest.mark.parametrize(
    ("authorizers", "complaint"),
    [
        ([], "authorizers: Required value: at least one authorization mode must be defined"),
        ([{}], "authorizers[0].type: Required value"),
        ([{"type": "X"}], 'authorizers[0].type: Unsupported value: "X"'),
        ([{"type": "RBAC"}, {"type": "RBAC"}], 'authorizers[1].type: Duplicate value: "RBAC"'),
        (
            [{"type": "RBAC", "webhook": {}}],
            'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
        ),
        ([{"type": "Webhook", "name": "w"}], "authorizers[0].webhook: Required value: required when type=Webhook"),
        ([hook(timeout="31s")], 'authorizers[0].webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s'),
        ([hook(failurePolicy="Fail")], 'authorizers[0].webhook.failurePolicy: Unsupported value: "Fail"'),
        ([hook(), hook()], 'authorizers[1].name: Duplicate value: "w"'),
        ([hook(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "k"})], "must be an absolute path"),
        ([hook(matchConditions=[{"expression": "request.nothing == 1"}])], "compilation failed"),
        ([hook(matchConditions=[{"expression": "request.user"}])], "must evaluate to bool"),
    ],
)
def test_what_is_wrong_is_said(authorizers: list[Any], complaint: str) -> None:
    with pytest.raises(ValueError, match="authorizers") as raised:
        parse({"authorizers": authorizers})
    assert complaint in str(raised.value)
