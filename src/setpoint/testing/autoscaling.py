"""Random autoscalers over Deployments whose load changes, in the same trouble as `chaos` makes; and the three metrics APIs.

    async with AutoscaledCluster(seed=seed) as cluster:
        users = Autoscaling(cluster)
        await users.run(steps=40)
        await users.heal()
        await cluster.until(users.converged)
        assert cluster.gauges.violations == []

Loads are shared by a target's pods, as those of real workloads are: more replicas mean less for each. What must hold at every
change of replicas is in `Gauges`; where they must end is in `Autoscaling.differences`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.api.types import apps_v1, autoscaling_v2, core_v1
from setpoint.client.transport import Request, Response, Transport
from setpoint.controllers.horizontal_pod_autoscaler.stabilizing import DOWNSCALE_WINDOW
from setpoint.kit.clock import rfc3339
from setpoint.testing.chaos import MAX_DEPLOYMENTS, NAMESPACE, Chaos, Declared
from setpoint.testing.cluster import ADMIN, CONTROLLERS, VirtualCluster
from setpoint.testing.scaling_limits import Limits

HPAS = autoscaling_v2.HORIZONTALPODAUTOSCALERS
CUSTOM = "custom.metrics.k8s.io"
_CUSTOM_GROUP = {"metadata": {"name": CUSTOM}, "versions": [{"version": "v1beta2", "resources": [], "freshness": "Current"}]}
_GONE = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","code":503,"message":"no"}'


class Metric(Struct, frozen=True):
    """One metric of a specification; targets are per replica, `suffix` is the unit of amounts."""

    spec: Mapping[str, Any]
    name: str
    target: int
    suffix: str = "m"
    shared: bool = False

    def ratio(self, load: float, replicas: int) -> float:
        """Usage over target, of that many replicas."""
        total = int(load * self.target)
        return total / (self.target * replicas) if self.shared else total // replicas / self.target


def resource(name: str, target: int, how: Mapping[str, Any], suffix: str = "m", container: str = "") -> Metric:
    kind = ("ContainerResource", "containerResource") if container else ("Resource", "resource")
    source = {"name": name, "target": how, **({"container": container} if container else {})}
    return Metric({"type": kind[0], kind[1]: source}, name, target, suffix)


def metrics_of(deployment: str) -> tuple[Metric, ...]:
    """Every kind of metric. Requests are 100 millicores: a percentage is an amount of millicores."""
    described = {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment}
    average, value = {"type": "AverageValue", "averageValue": "2"}, {"type": "Value", "value": "2"}
    percent = {"type": "Utilization", "averageUtilization": 60}

    def named(name: str) -> dict[str, Any]:
        return {"metric": {"name": f"{deployment}-{name}"}}

    hits = {"describedObject": described, **named("hits")}
    return (
        resource("cpu", 60, percent),
        resource("cpu", 80, {"type": "AverageValue", "averageValue": "80m"}),
        resource("cpu", 60, percent, container="c"),
        resource("memory", 1000, {"type": "AverageValue", "averageValue": "1000"}, suffix=""),
        Metric({"type": "Pods", "pods": {**named("queue"), "target": average}}, f"{deployment}-queue", 2000),
        Metric({"type": "Object", "object": {**hits, "target": value}}, f"{deployment}-hits", 2000),
        Metric({"type": "Object", "object": {**hits, "target": average}}, f"{deployment}-hits", 2000, shared=True),
        Metric({"type": "External", "external": {**named("lag"), "target": value}}, f"{deployment}-lag", 2000),
        Metric({"type": "External", "external": {**named("lag"), "target": average}}, f"{deployment}-lag", 2000, shared=True),
    )


class Scaled(Struct):
    """What the users want of one autoscaler, and how busy its target is (in replicas that would just do)."""

    metrics: tuple[Metric, ...]
    limits: Limits
    load: float

    def ends_at(self, replicas: int) -> bool:
        """Whether this load leaves so many replicas, all of them ready, as they are."""
        wanted = max(self._wanted(metric, replicas) for metric in self.metrics)
        wanted = min(max(wanted, self.limits.least), self.limits.most)
        if wanted == replicas:
            return True
        return self.limits.least <= replicas <= self.limits.most and self.limits.is_disabled(up=wanted > replicas)

    def _wanted(self, metric: Metric, replicas: int) -> int:
        if not replicas:
            return 1
        ratio = metric.ratio(self.load, replicas)
        return replicas if abs(ratio - 1.0) <= 0.1 + 1e-9 else math.ceil(ratio * replicas - 1e-9)


class Gauges:
    """The metrics APIs and a look at each change of replicas. `down` answers nothing; `missing` is the share of pods left out."""

    def __init__(self) -> None:
        self.scaled: dict[str, Scaled] = {}
        self.violations: list[str] = []
        self.looks = 0
        self.down = False
        self.missing = 0.0

    def forget(self) -> None:
        """The controller begins anew and knows of no changes."""
        for each in self.scaled.values():
            each.limits.forget()

    def lost(self, request: Request) -> None:
        """The answer to a change did not come: its client does not count it."""
        if request.method == "PUT" and request.path.endswith("/scale"):
            name = request.path.split("/")[-2]
            if name in self.scaled:
                self.scaled[name].limits.unnote()


class _Metered:
    """A transport that answers for the metrics APIs and lets `Gauges` see scales being written."""

    def __init__(self, inner: Transport, cluster: AutoscaledCluster) -> None:
        self._inner = inner
        self._cluster = cluster
        self.stream = inner.stream
        self.close = inner.close

    async def call(self, request: Request) -> Response:
        path = request.path
        if path == "/apis":
            answer = await self._inner.call(request)
            body = orjson.loads(answer.body)
            return Response(answer.status, answer.headers, orjson.dumps({**body, "items": [*body["items"], _CUSTOM_GROUP]}))
        if path.startswith(("/apis/metrics.k8s.io/", f"/apis/{CUSTOM}/", "/apis/external.metrics.k8s.io/")):
            return await self._metrics(request)
        if request.method == "PUT" and path.endswith("/scale"):
            return await self._scale(request)
        return await self._inner.call(request)

    async def _scale(self, request: Request) -> Response:
        name = request.path.split("/")[-2]
        deployment = await self._cluster.client.get(apps_v1.DEPLOYMENTS, name, NAMESPACE)
        answer = await self._inner.call(request)
        scaled = self._cluster.gauges.scaled.get(name)
        if answer.status == 200 and scaled is not None:
            before, after = deployment.spec.replicas or 0, orjson.loads(request.body)["spec"].get("replicas", 0)
            now = self._cluster.clock.monotonic()
            self._cluster.gauges.violations += [f"at {now:.1f} {name}: {each}" for each in scaled.limits.take(before, after, now)]
        return answer

    async def _metrics(self, request: Request) -> Response:
        gauges = self._cluster.gauges
        gauges.looks += 1
        if gauges.down:
            return Response(503, {"content-type": "application/json"}, _GONE)
        items = [each async for each in self._items(request.path.split("/")[2:], request.query)]
        return Response(200, {"content-type": "application/json"}, orjson.dumps({"items": items}))

    async def _items(self, path: list[str], query: Mapping[str, str]) -> Any:
        """The items of an answer; `path` begins with the group."""
        metric = path[-1]
        if path[0] == "metrics.k8s.io":
            for pod, scaled in await self._pods(query):
                usage = {
                    each.name: self._share(each, scaled, pod[1]) for each in scaled.metrics if each.name in {"cpu", "memory"}
                }
                yield {**self._of(pod[0]), "window": "30s", "containers": [{"name": "c", "usage": usage}]}
        elif path[-2] == "*":
            for pod, scaled in await self._pods(query):
                found = next(each for each in scaled.metrics if each.name == metric)
                yield {
                    **self._of(pod[0]),
                    "describedObject": {"kind": "Pod", "name": pod[0]},
                    "value": self._share(found, scaled, pod[1]),
                }
        else:
            owner = metric.rpartition("-")[0]
            count = len(await self._running(f"app={owner}"))
            described = self._cluster.gauges.scaled.get(owner)
            for each in described.metrics if described is not None else ():
                if described is not None and each.name == metric:
                    yield {**self._of(owner), "value": self._share(each, described, 1 if each.shared else max(count, 1))}

    def _of(self, name: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "namespace": NAMESPACE}, "timestamp": rfc3339(self._cluster.clock.now())}

    @staticmethod
    def _share(metric: Metric, scaled: Scaled, count: int) -> str:
        return f"{int(scaled.load * metric.target) // count}{metric.suffix}"

    async def _pods(self, query: Mapping[str, str]) -> list[tuple[tuple[str, int], Scaled]]:
        """Names of the pods that are measured, with how many share the load."""
        selector = query.get("labelSelector", "")
        scaled = self._cluster.gauges.scaled.get(selector.partition("=")[2])
        if scaled is None:
            return []
        running = await self._running(selector)
        rng, missing = self._cluster.faults.rng, self._cluster.gauges.missing
        return [((name, len(running)), scaled) for name in running if not missing or rng.random() >= missing]

    async def _running(self, selector: str) -> list[str]:
        pods = (await self._cluster.client.list(core_v1.PODS, NAMESPACE, label_selector=selector)).items
        return [pod.metadata.name for pod in pods if pod.status.phase == "Running" and not pod.metadata.deletion_timestamp]


class AutoscaledCluster(VirtualCluster):
    """A cluster with metrics. What the tests' own client does goes past the gauges."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.gauges = Gauges()
        super().__init__(*args, **options)
        self.faults.lost = self.gauges.lost

    def _transport(self, user: UserInfo) -> Transport:
        inner = super()._transport(user)
        return inner if user is ADMIN else _Metered(inner, self)

    def start(self, name: str) -> None:
        if name == CONTROLLERS:
            self.gauges.forget()
        super().start(name)


class Autoscaling(Chaos):
    """Users of autoscalers. What `chaos` does to nodes, links and components it does here, too."""

    def __init__(self, cluster: AutoscaledCluster) -> None:
        super().__init__(cluster)
        self.gauges = cluster.gauges

    async def _create(self) -> str:
        if len(self.declared) >= MAX_DEPLOYMENTS:
            return ""
        self._made += 1
        name, replicas = f"d{self._made}", self.rng.randint(0, 6)
        await self.client.create(apps_v1.DEPLOYMENTS, _deployment(name, replicas), NAMESPACE)
        self.declared[name] = Declared(replicas, "v1")
        scaled, spec = self._autoscaler(name)
        self.gauges.scaled[name] = scaled
        await self.client.create(HPAS, {"metadata": {"name": name}, "spec": spec}, NAMESPACE)
        return f"create {name} of {replicas}, load {scaled.load}: {spec}"

    def _autoscaler(self, name: str) -> tuple[Scaled, dict[str, Any]]:
        chosen = self.rng.sample(metrics_of(name), self.rng.randint(1, 3))
        chosen = [each for place, each in enumerate(chosen) if each.name not in {other.name for other in chosen[:place]}]
        least = self.rng.randint(1, 3)
        most = self.rng.randint(least, 9)
        behavior = self._behavior()
        spec = {
            "minReplicas": least,
            "maxReplicas": most,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "metrics": [each.spec for each in chosen],
            **({"behavior": behavior} if behavior is not None else {}),
        }
        limits = Limits(least, most, behavior, self.cluster.clock.monotonic())
        return Scaled(tuple(chosen), limits, self._load()), spec

    def _load(self) -> float:
        return self.rng.choice((0.0, 0.5, self.rng.uniform(0, 4), self.rng.uniform(2, 12)))

    def _behavior(self) -> dict[str, Any] | None:
        return self.rng.choice((None, {"scaleUp": self._rules((0, 0, 60)), "scaleDown": self._rules((0, 60, DOWNSCALE_WINDOW))}))

    def _rules(self, windows: tuple[int, ...]) -> dict[str, Any]:
        policies = [
            {"type": kind, "value": self.rng.randint(1, 4) * (25 if kind == "Percent" else 1), "periodSeconds": period}
            for kind, period in self.rng.sample(
                [(k, p) for k in ("Pods", "Percent") for p in (15, 60, 120)], self.rng.randint(1, 3)
            )
        ]
        select = self.rng.choice(("Max", "Max", "Max", "Min", "Min", "Disabled"))
        return {"policies": policies, "selectPolicy": select, "stabilizationWindowSeconds": self.rng.choice(windows)}

    async def _scale(self) -> str:
        """The load changes."""
        if not (name := self._any_deployment()):
            return ""
        self.gauges.scaled[name].load = self._load()
        return f"load of {name} is {self.gauges.scaled[name].load}"

    async def _pause(self) -> str:
        """Metrics go missing: all, or those of some pods."""
        self.gauges.down, self.gauges.missing = self.rng.random() < 0.3, self.rng.choice((0.0, 0.3, 0.8))
        return f"metrics are {'down' if self.gauges.down else 'there'}, {self.gauges.missing} of the pods missing"

    async def _resume(self) -> str:
        self.gauges.down, self.gauges.missing = False, 0.0
        return "all metrics are there"

    async def _delete(self) -> str:
        if not self.declared:
            return ""
        told = await super()._delete()
        gone = next(each for each in sorted(self.gauges.scaled) if each not in self.declared)
        del self.gauges.scaled[gone]
        await self.client.delete(HPAS, gone, NAMESPACE)
        return told

    async def _delete_replica_set(self) -> str:
        """Somebody scales by hand."""
        if not (name := self._any_deployment()):
            return ""
        replicas = self.rng.randint(1, 8)
        await self.client.patch(apps_v1.DEPLOYMENTS, name, {"spec": {"replicas": replicas}}, NAMESPACE, subresource="scale")
        return f"scale {name} to {replicas}"

    async def _relabel_pod(self) -> str:
        """The bounds change."""
        if not (name := self._any_deployment()):
            return ""
        least = self.rng.randint(1, 3)
        most = self.rng.randint(least, 9)
        self.gauges.scaled[name].limits.bound(least, most, self.cluster.clock.monotonic())
        await self.client.patch(HPAS, name, {"spec": {"minReplicas": least, "maxReplicas": most}}, NAMESPACE)
        return f"bounds of {name}: {least} to {most}"

    async def heal(self) -> None:
        """Beside the trouble, all metrics are there; who scaled to nothing by hand switched the autoscaler off."""
        await super().heal()
        await self._resume()

    async def differences(self) -> list[str]:
        """What is not as it was declared, and which autoscalers have not come to rest."""
        found: list[str] = []
        for each in (await self.client.list(apps_v1.DEPLOYMENTS, NAMESPACE)).items:
            name, replicas = each.metadata.name, each.spec.replicas or 0
            if name in self.declared:
                self.declared[name] = Declared(replicas, self.declared[name].image)
                found += self._off(name, replicas)
        return [*found, *await super().differences()]

    def _off(self, name: str, replicas: int) -> Iterable[str]:
        scaled = self.gauges.scaled[name]
        if replicas and not scaled.ends_at(replicas):
            yield f"{name}: {replicas} replicas for load {scaled.load}, {scaled.limits.least} to {scaled.limits.most}"


def _deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "c", "image": "v1", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, "revisionHistoryLimit": 1}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec}
