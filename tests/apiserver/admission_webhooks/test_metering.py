"""What is counted of webhooks, in Kubernetes' words."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from tests.apiserver.admission_webhooks.conftest import Answer, Api, Hooks

from setpoint.kit import metrics


def counted(name: str) -> list[str]:
    """The lines of counters about the webhook `name`, without their common prefix."""
    prefix = "apiserver_admission_webhook_"
    lines = metrics.exposition().decode().splitlines()
    return sorted(line.removeprefix(prefix) for line in lines if f'"{name}.example.com"' in line and "_seconds_" not in line)


def denying(code: int) -> Answer:
    return lambda _: {"allowed": False, "status": {"code": code}}


def failing(_: dict[str, Any]) -> web.Response:
    return web.Response(status=418)


@pytest.mark.parametrize(
    ("name", "answer", "more", "code", "expected"),
    [
        ("well", None, {}, 201, ['request_total{code="200",name="well.example.com",operation="CREATE",rejected="false"']),
        (
            "denies",
            denying(700),
            {},
            700,
            [
                'rejection_count{error_type="no_error",name="denies.example.com",operation="CREATE",rejection_code="600"',
                'request_total{code="600",name="denies.example.com",operation="CREATE",rejected="true"',
            ],
        ),
        (
            "fails",
            failing,
            {},
            500,
            [
                'rejection_count{error_type="calling_webhook_error",name="fails.example.com",operation="CREATE",rejection_code="418"',
                'request_total{code="418",name="fails.example.com",operation="CREATE",rejected="true"',
            ],
        ),
        (
            "open",
            failing,
            {"failurePolicy": "Ignore"},
            201,
            [
                'fail_open_count{name="open.example.com"',
                'request_total{code="418",name="open.example.com",operation="CREATE",rejected="false"',
            ],
        ),
    ],
)
@pytest.mark.parametrize("kind", ["validating", "mutating"])
async def test_what_came_of_a_question(
    api: Api,
    hooks: Hooks,
    kind: str,
    name: str,
    answer: Answer | None,
    more: dict[str, Any],
    code: int,
    expected: list[str],
) -> None:
    unique, label = f"{kind}-{name}", {"mutating": "admit"}.get(kind, kind)
    if answer is not None:
        hooks.answers[unique] = answer
    await api.configure(kind, "c", hooks.hook(unique, **more))
    await api.make(code=code)
    lines = [f'{line},type="{label}"}} 1.0' for line in expected]
    assert counted(unique) == [line.replace(f'"{name}.', f'"{unique}.') for line in lines]


async def test_how_long_one_took(api: Api, hooks: Hooks) -> None:
    await api.configure("validating", "c", hooks.hook("timed"))
    await api.make()
    names = 'name="timed.example.com",operation="CREATE",rejected="false",type="validating"'
    text = metrics.exposition().decode()
    assert f"apiserver_admission_webhook_admission_duration_seconds_count{{{names}}} 1.0" in text
    assert 'apiserver_admission_webhook_admission_duration_seconds_bucket{le="25.0",' + names in text
