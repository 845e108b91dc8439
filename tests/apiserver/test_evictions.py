"""Which evictions are understood, and which are turned away before a pod is looked for."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.apiserver.handlers.subresources.disruption_budgets import _why, used_up

from .conftest import Api

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
PODS = "/api/v1/namespaces/d/pods"
NAME = "name in URL does not match name in Eviction object"
NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({}, 201, None),
        ({"apiVersion": "policy/v1beta1"}, 201, None),
        ({"metadata": {}}, 400, NAME),
        ({"metadata": {"name": "p", "namespace": "other"}}, 400, NAMESPACE),
        ({"deleteOptions": {"dryRun": ["All"]}}, 201, None),
        (
            {"deleteOptions": {"dryRun": ["x"]}},
            500,
            "Non-matching dry-run options in request and content: [All] and [x]",
        ),
    ],
)
async def test_evictions(api: Api, change: dict[str, Any], code: int, message: str | None) -> None:
    await api(f"POST {PODS}", POD)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, **change}
    answer = await api(f"POST {PODS}/p/eviction?dryRun=All", eviction, code=code)
    assert answer.get("message") == message


async def test_an_evicted_pod_says_why_it_goes(api: Api) -> None:
    await api(f"POST {PODS}", {**POD, "metadata": {"name": "held", "finalizers": ["x.example/hold"]}})
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "held"}}
    await api(f"POST {PODS}/held/eviction", eviction, code=201)
    pod = await api(f"GET {PODS}/held")
    condition = pod["status"]["conditions"][-1]
    time = condition.pop("lastTransitionTime")
    assert pod["metadata"]["deletionTimestamp"] >= time
    assert condition == {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }


NEVER = "The disruption budget b does not allow evicting pods currently"


@pytest.mark.parametrize(
    ("told", "healthy", "expected"),
    [
        ({}, 1, "The disruption budget b needs 1 healthy pods and has 1 currently"),
        ({"reason": "SyncFailed", "message": "m"}, 1, f"{NEVER} because it failed sync: m"),
        ({"reason": "Other", "message": "m"}, 1, "The disruption budget b needs 1 healthy pods and has 1 currently"),
        ({"reason": "Other", "message": "m"}, 2, f"{NEVER} (Other): m"),
        ({"reason": "InsufficientPods", "message": ""}, 2, NEVER),
    ],
)
def test_a_refusal_tells_why(told: dict[str, Any], healthy: int, expected: str) -> None:
    conditions = [{"type": "DisruptionAllowed", "status": "False", **told}] if told else []
    assert _why("b", {"conditions": conditions, "currentHealthy": healthy, "desiredHealthy": 1}) == expected


def test_the_last_disruption_changes_the_condition() -> None:
    allowed = {"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": ""}
    former: dict[str, Any] = {
        "observedGeneration": 1,
        "conditions": [{**allowed, "lastTransitionTime": "then", "observedGeneration": 1}],
    }
    (condition,) = used_up(former, "now")
    assert (condition["status"], condition["reason"], condition["lastTransitionTime"]) == ("False", "InsufficientPods", "now")
    assert former["conditions"][0]["status"] == "True"


async def test_too_many_evictions_that_nobody_saw_end_allow_no_more(api: Api) -> None:
    budgets = "/apis/policy/v1/namespaces/d/poddisruptionbudgets"
    await api(f"POST {budgets}", {"metadata": {"name": "b"}, "spec": {"minAvailable": 0, "selector": {}}})
    disrupted = {f"gone-{number}": "2030-01-01T00:00:00Z" for number in range(2001)}
    counts = {"currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1, "observedGeneration": 1}
    await api.merge(f"{budgets}/b/status", {"status": {**counts, "disruptionsAllowed": 1, "disruptedPods": disrupted}})
    await api(f"POST {PODS}", POD)
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await api.merge(f"{PODS}/p/status", {"status": ready})
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    answer = await api(f"POST {PODS}/p/eviction", eviction, code=403)
    why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
    assert answer["message"] == f'poddisruptionbudget.policy "b" is forbidden: {why}'
