"""Tokens of old versions: marked after a year without use, deleted after another."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
import pytest

from setpoint.api.types.core_v1 import Secret, ServiceAccount
from setpoint.controllers.service_account.legacy_tokens import INVALID_SINCE, LAST_USED, Observed, diff
from setpoint.kit.clock import parse_rfc3339

NOW = parse_rfc3339("2026-06-01T12:00:00Z")


def decided(*, created: str = "2020-01-01", named: bool = True, mounted: bool = False, uid: str = "u", **labels: str) -> str:
    labels = {{"used": LAST_USED, "invalid": INVALID_SINCE}[name]: day for name, day in labels.items()}
    annotations = {"kubernetes.io/service-account.name": "a", "kubernetes.io/service-account.uid": uid}
    meta: dict[str, Any] = {"name": "t", "namespace": "n", "creationTimestamp": f"{created}T00:00:00Z"}
    secret = msgspec.convert({"metadata": {**meta, "labels": labels, "annotations": annotations}}, Secret)
    references = [{"name": "t"}] if named else []
    account = msgspec.convert({"metadata": {"name": "a", "namespace": "n", "uid": "u"}, "secrets": references}, ServiceAccount)
    held = frozenset({"n/t"} if mounted else ())
    plan = diff(Observed([secret], {"n/a": account}, held, date(2024, 1, 1), NOW))
    return "mark" if plan.mark else "delete" if plan.delete else ""


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "mark"),
        ({"used": "2025-05-01"}, "mark"),
        ({"used": "2025-07-01"}, ""),
        ({"created": "2026-01-01"}, ""),
        ({"named": False}, ""),
        ({"mounted": True}, ""),
        ({"uid": "other"}, ""),
        ({"invalid": "2025-07-01"}, ""),
        ({"invalid": "2025-05-01"}, "delete"),
        ({"invalid": "2025-04-01", "used": "2025-05-01"}, "mark"),
        ({"invalid": "nonsense"}, "mark"),
    ],
)
def test_what_becomes_of_a_token(given: dict[str, Any], what: str) -> None:
    assert decided(**given) == what


async def test_it_runs_where_accounts_name_secrets(world: Any) -> None:
    await world.namespace("n")
    await world.run("legacy-serviceaccount-token-cleaner-controller")
    account = {"metadata": {"name": "a"}, "secrets": [{"name": "t"}]}
    made = await world.call("POST", "/api/v1/namespaces/n/serviceaccounts", account)
    annotations = {
        "kubernetes.io/service-account.name": "a",
        "kubernetes.io/service-account.uid": made["metadata"]["uid"],
    }
    secret = {"metadata": {"name": "t", "annotations": annotations}, "type": "kubernetes.io/service-account-token"}
    await world.call("POST", "/api/v1/namespaces/n/secrets", secret)
    await world.namespace("kube-system")
    tracking = {"metadata": {"name": "kube-apiserver-legacy-service-account-token-tracking"}, "data": {"since": "2020-01-01"}}
    await world.call("POST", "/api/v1/namespaces/kube-system/configmaps", tracking)
    await world.clock.advance(10)
    assert "labels" not in (await world.get("/api/v1/namespaces/n/secrets/t"))["metadata"]
    world.clock.jump(366 * 24 * 3600)
    await world.clock.advance(5)
    assert INVALID_SINCE in (await world.get("/api/v1/namespaces/n/secrets/t"))["metadata"]["labels"]
