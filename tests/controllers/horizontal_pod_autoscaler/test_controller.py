"""The controller on a whole API server: scales, conditions, events."""

from __future__ import annotations

from typing import Any

NAMES = ("horizontal-pod-autoscaler-controller",)
HPAS = "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers"
DEPLOYMENTS = "/apis/apps/v1/namespaces/n/deployments"


def hpa(name: str = "h", target: str = "d", **spec: Any) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {"metadata": {"name": name}, "spec": {"maxReplicas": 3, "scaleTargetRef": reference, **spec}}


def deployment(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "metadata": {"name": "d"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "a"}}, "template": template},
    }


async def test_without_metrics_it_has_the_scale_and_is_not_active(world: Any) -> None:
    await world.namespace("n")
    await world.run(*NAMES)
    await world.call("POST", DEPLOYMENTS, deployment(1))
    await world.call("POST", HPAS, hpa())
    await world.clock.advance(14)
    assert "conditions" not in (await world.get(f"{HPAS}/h"))["status"]
    await world.clock.advance(3)
    status = (await world.get(f"{HPAS}/h"))["status"]
    assert [(each["type"], each["status"], each["reason"]) for each in status["conditions"]] == [
        ("AbleToScale", "True", "SucceededGetScale"),
        ("ScalingActive", "False", "FailedGetResourceMetric"),
    ]
    assert status["conditions"][1]["message"] == (
        "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: "
        "unable to fetch metrics from resource metrics API: the server could not find the requested resource "
        "(get pods.metrics.k8s.io)"
    )
    assert status["currentMetrics"] == [{"type": ""}]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (1, 0)


async def test_too_many_replicas_go_without_metrics(world: Any) -> None:
    await world.namespace("n")
    await world.run(*NAMES)
    await world.call("POST", DEPLOYMENTS, deployment(4))
    await world.call("POST", HPAS, hpa(maxReplicas=2))
    await world.clock.advance(20)
    assert (await world.get(f"{DEPLOYMENTS}/d"))["spec"]["replicas"] == 2
    events = (await world.call("GET", "/api/v1/namespaces/n/events"))["items"]
    told = [(each["reason"], each["message"], each["source"]["component"]) for each in events]
    assert told[0] == (
        "SuccessfulRescale",
        "New size: 2; reason: Current number of replicas above Spec.MaxReplicas",
        "horizontal-pod-autoscaler",
    )


async def test_a_missing_target_is_told(world: Any) -> None:
    await world.namespace("n")
    await world.run(*NAMES)
    await world.call("POST", HPAS, hpa(target="nobody"))
    await world.call("POST", HPAS, hpa("g", scaleTargetRef={"apiVersion": "x.example/v1", "kind": "Thing", "name": "t"}))
    await world.clock.advance(20)
    conditions = (await world.get(f"{HPAS}/h"))["status"]["conditions"]
    unread = "the HPA controller was unable to get the target's current scale: "
    assert [each["message"] for each in conditions] == [unread + 'deployments.apps "nobody" not found']
    conditions = (await world.get(f"{HPAS}/g"))["status"]["conditions"]
    assert [each["message"] for each in conditions] == [unread + 'no matches for kind "Thing" in group "x.example"']
