"""A day in a cluster on virtual time: teams with Deployments, CronJobs, budgets and quotas on a fleet of simulated nodes.

    async with day_cluster(seed=1) as cluster:
        day = Day(cluster)
        await day.begin()
        await day.run(hours=24)
        await day.end()
        assert await day.differences() == []

What happens comes from the cluster's own seed: rollouts, scaling, quotas that get tight and wide again, nodes that lose power or
connection, drains that respect budgets. `log` tells the story, `Care` checks what must hold at every revision.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.types import apps_v1, batch_v1, core_v1, policy_v1
from setpoint.client.owners import controller_of
from setpoint.controllers.component import NodeTimings, Settings
from setpoint.kit.clock import Clock
from setpoint.node.simulated import Beats, NodeSpec, Stages
from setpoint.storage.protocol import Event, Store
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import VirtualCluster
from setpoint.testing.draining import cordon, drain
from setpoint.testing.invariants import is_active
from setpoint.testing.workloads import Exactness

HEARTBEAT = 60
"""Seconds between two heartbeats of a node."""
MOMENTS = 12
"""At how many moments of a period nodes beat; each moment for itself costs more than what happens in it."""
_TIMINGS = NodeTimings(monitor_period=20.0, monitor_grace=160.0)
_AN_HOUR = 3600.0
_EVICTED = "EvictionByEvictionAPI"


class Size(Struct, frozen=True):
    """How large the cluster is: `teams` namespaces of `deployments` Deployments with `replicas` pods each."""

    nodes: int = 200
    teams: int = 10
    deployments: int = 10
    replicas: int = 30


def day_cluster(size: Size = Size(), seed: int = 1) -> VirtualCluster:  # noqa: B008  # frozen
    """The cluster for a day: its nodes beat once a minute."""
    nodes = [NodeSpec(f"node-{number}", cpu="16", memory="64Gi") for number in range(1, size.nodes + 1)]
    settings = Settings(nodes=_TIMINGS)
    return VirtualCluster(nodes, seed=seed, stages=stages, settings=settings, beats=Beats(4 * HEARTBEAT, MOMENTS))


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within it the garbage collector works as seldom as in a server: it would go through 3,000 pods again and again."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def stages(pod: core_v1.Pod) -> Stages:
    """Pods of Jobs end after half a minute, every tenth of them badly; the others run."""
    if pod.spec.restart_policy != "Never":
        return Stages()
    last = sum(pod.metadata.name.encode())
    return Stages(fail=20.0) if not last % 10 else Stages(complete=20.0 + last % 20)


class Day:
    """What the teams and the world do. `wanted` is how many replicas and which image each Deployment shall have."""

    def __init__(self, cluster: VirtualCluster, size: Size = Size()) -> None:  # noqa: B008  # frozen
        self.cluster = cluster
        self.client = cluster.client
        self.rng = cluster.rng
        self.size = size
        self.log: list[str] = []
        self.wanted: dict[tuple[str, str], tuple[int, str]] = {}
        self._teams = [f"team-{number}" for number in range(1, size.teams + 1)]
        self._down: dict[str, float] = {}
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._actions: Mapping[Callable[[], Awaitable[str]], int] = {
            self._roll: 6,
            self._scale: 6,
            self._change_quota: 4,
            self._lose_node: 2,
            self._drain: 2,
        }
        """What happens, and how often in an hour."""

    # -- the story

    async def begin(self) -> None:
        """Create everything, and wait until it runs."""
        for team in self._teams:
            await self._found(team)
        await self.cluster.settled()

    async def run(self, hours: float) -> None:
        """Let `hours` pass with all that happens in them."""
        clock = self.cluster.clock
        start, end = clock.elapsed, clock.elapsed + hours * _AN_HOUR
        for moment, action in self._plan(start, hours):
            await self.cluster.advance(max(0.0, moment - clock.elapsed))
            await self._return_nodes()
            self._tell(await action())
        await self.cluster.advance(max(0.0, end - clock.elapsed))

    async def end(self) -> None:
        """All nodes come back, all drains end, CronJobs are suspended, quotas are wide; wait until nothing is left to do."""
        self._down = dict.fromkeys(self._down, 0.0)
        await self._return_nodes()
        await asyncio.gather(*(self._finish(task) for task in self._drains.values()))
        for team in self._teams:
            await self._set_quota(team, self._wide())
            await self.client.patch(batch_v1.CRONJOBS, "report", {"spec": {"suspend": True}}, team)
        await self.cluster.advance(900)  # what waits for a retry of minutes has had it
        await self.cluster.settled()

    async def _finish(self, task: asyncio.Task[None]) -> None:
        while not task.done():
            await self.cluster.advance(5)

    def _plan(self, start: float, hours: float) -> list[tuple[float, Callable[[], Awaitable[str]]]]:
        """When what happens: each kind of event as often as it is due, at random moments."""
        found = []
        for action, often in self._actions.items():
            moments = (start + self.rng.random() * hours * _AN_HOUR for _ in range(round(often * hours)))
            found += [(moment, action) for moment in moments]
        return sorted(found, key=lambda each: each[0])

    def _tell(self, told: str) -> None:
        if told:
            self.log.append(f"{self.cluster.clock.elapsed:10.1f} {told}")

    # -- the teams

    def _wide(self) -> int:
        return 2 * self.size.deployments * self.size.replicas

    async def _found(self, team: str) -> None:
        client = self.client
        await client.create(core_v1.NAMESPACES, {"metadata": {"name": team}})
        quota = {"metadata": {"name": "pods"}, "spec": {"hard": {"pods": str(self._wide())}}}
        await client.create(core_v1.RESOURCEQUOTAS, quota, team)
        await self.cluster.advance(1)  # the service account that pods need
        for number in range(1, self.size.deployments + 1):
            name, replicas = f"app-{number}", self.size.replicas
            body = deployment(name, replicas, "v1")
            body["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
            await client.create(apps_v1.DEPLOYMENTS, body, team)
            selector = {"matchLabels": {"app": name}}
            budget = {"metadata": {"name": name}, "spec": {"maxUnavailable": "10%", "selector": selector}}
            await client.create(policy_v1.PODDISRUPTIONBUDGETS, budget, team)
            self.wanted[team, name] = replicas, "v1"
        service = {"metadata": {"name": "app-1"}, "spec": {"selector": {"app": "app-1"}, "ports": [{"port": 80}]}}
        await client.create(core_v1.SERVICES, service, team)
        await client.create(batch_v1.CRONJOBS, _report(), team)

    def _any(self) -> tuple[str, str]:
        return self.rng.choice(sorted(self.wanted))

    async def _roll(self) -> str:
        team, name = self._any()
        replicas, image = self.wanted[team, name]
        image = f"v{int(image[1:]) + 1}"
        template = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
        await self.client.patch(apps_v1.DEPLOYMENTS, name, {"spec": template}, team, kind="strategic")
        self.wanted[team, name] = replicas, image
        return f"{team}/{name}: {image}"

    async def _scale(self) -> str:
        team, name = self._any()
        replicas = self.size.replicas + self.rng.randint(-5, 5)
        await self.client.patch(apps_v1.DEPLOYMENTS, name, {"spec": {"replicas": replicas}}, team, subresource="scale")
        self.wanted[team, name] = replicas, self.wanted[team, name][1]
        return f"{team}/{name}: {replicas} replicas"

    async def _set_quota(self, team: str, pods: int) -> None:
        await self.client.patch(core_v1.RESOURCEQUOTAS, "pods", {"spec": {"hard": {"pods": str(pods)}}}, team)

    async def _change_quota(self) -> str:
        """Either more than enough, or hardly what the team has."""
        team = self.rng.choice(self._teams)
        pods = self.rng.choice((self._wide(), self.size.deployments * self.size.replicas + self.rng.randint(-10, 20)))
        await self._set_quota(team, pods)
        return f"{team}: quota of {pods} pods"

    # -- the world

    def _any_node(self) -> str:
        """A node that is well."""
        nodes = self.cluster.nodes.nodes
        return self.rng.choice([name for name in sorted(nodes) if name not in self._down and name not in self._drains])

    async def _lose_node(self) -> str:
        name, seconds = self._any_node(), self.rng.uniform(60, 1500)
        lose = self.rng.choice((self.cluster.nodes.kill, self.cluster.nodes.freeze))
        lose(name)
        self._down[name] = self.cluster.clock.elapsed + seconds
        return f"{name}: {lose.__name__} for {seconds:.0f} s"

    async def _return_nodes(self) -> None:
        for name in [name for name, until in self._down.items() if until <= self.cluster.clock.elapsed]:
            del self._down[name]
            self.cluster.nodes.start(name)
            self._tell(f"{name}: back")

    async def _drain(self) -> str:
        name = self._any_node()
        self._drains[name] = asyncio.create_task(self._drained(name))
        return f"{name}: drain"

    async def _drained(self, name: str) -> None:
        """Drain it, work on it for a while, and take it back."""
        rest = await drain(self.client, self.cluster.clock, name)
        await self.cluster.clock.sleep(300)
        await cordon(self.client, name, closed=False)
        del self._drains[name]
        self._tell(f"{name}: drained, {rest} left")

    # -- the end

    async def differences(self) -> list[str]:
        """What is not as it was declared."""
        pods = (await self.client.list(core_v1.PODS)).items
        replica_sets = {each.metadata.uid: each for each in (await self.client.list(apps_v1.REPLICASETS)).items}
        running: dict[tuple[str, str], list[core_v1.Pod]] = defaultdict(list)
        found = []
        for pod in pods:
            ref = controller_of(pod.metadata)
            owner = replica_sets.get(ref.uid) if ref is not None else None
            if owner is not None:
                running[pod.metadata.namespace, pod.metadata.labels["app"]].append(pod)
            elif ref is None or ref.kind != "Job":
                found.append(f"{pod.metadata.name}: its owner is gone")
        for each in (await self.client.list(apps_v1.DEPLOYMENTS)).items:
            found += self._deployment_differences(each, running[each.metadata.namespace, each.metadata.name])
        found += await self._quota_differences(Counter(pod.metadata.namespace for pod in pods if not _has_ended(pod)))
        found += await self._job_differences()
        for node in (await self.client.list(core_v1.NODES)).items:
            if not _ready(node) or node.spec.taints:
                found.append(f"{node.metadata.name} is not ready, or tainted {node.spec.taints}")
        return found

    def _deployment_differences(self, obj: apps_v1.Deployment, pods: list[core_v1.Pod]) -> Iterable[str]:
        where = obj.metadata.namespace, obj.metadata.name
        replicas, image = self.wanted[where]
        good = [pod for pod in pods if _ready(pod) and pod.spec.containers[0].image == image]
        status = obj.status
        counts = (len(pods), len(good), status.replicas, status.updated_replicas, status.available_replicas)
        if counts != (replicas,) * 5:
            yield f"{'/'.join(where)}: {counts} instead of {replicas} replicas of {image}"

    async def _quota_differences(self, pods: Mapping[str, int]) -> list[str]:
        quotas = (await self.client.list(core_v1.RESOURCEQUOTAS)).items
        used = {quota.metadata.namespace: quota.status.used.get("pods") for quota in quotas}
        return [f"{team}: {used[team]} pods used, {pods[team]} are there" for team in used if used[team] != str(pods[team])]

    async def _job_differences(self) -> list[str]:
        jobs = (await self.client.list(batch_v1.JOBS)).items
        ended = {"Complete", "Failed"}
        running = [job for job in jobs if not any(each.type in ended and each.status == "True" for each in job.status.conditions)]
        found = [f"{job.metadata.namespace}/{job.metadata.name} goes on" for job in running]
        kept = Counter(job.metadata.namespace for job in jobs)
        return found + [f"{team}: {count} jobs are kept" for team, count in kept.items() if count > 4]


class Care(Exactness):
    """Beside all else: no quota is exceeded by a new pod, and no eviction takes a pod that a budget needed."""

    def __init__(self, store: Store, clock: Clock) -> None:
        super().__init__(store, clock)
        self._healthy: dict[str, set[str]] = defaultdict(set)
        self._active: dict[str, set[str]] = defaultdict(set)

    def check(self, event: Event) -> None:
        super().check(event)
        if not event.key.startswith("pods/"):
            return
        team = event.key.split("/")[1]
        pod = self._objects.get(event.key)
        if pod is None:
            self._count(event.key, team, team, {})
            return
        app = f"{team}/{pod['metadata']['labels'].get('app', '')}"
        if event.previous is not None and _is_evicted(pod) and not _is_evicted(orjson.loads(event.previous.value)):
            self._within_budget(event, app)
        self._count(event.key, team, app, pod)
        if event.previous is None:
            self._within_quota(event, team)

    def _count(self, key: str, team: str, app: str, pod: Mapping[str, Any]) -> None:
        alive = bool(pod) and is_active(pod)
        (self._active[team].add if alive else self._active[team].discard)(key)
        if alive and _is_healthy(pod):
            self._healthy[app].add(key)
            return
        for each in (app,) if pod else [each for each in self._healthy if each.startswith(f"{team}/")]:
            self._healthy[each].discard(key)

    def _within_quota(self, event: Event, team: str) -> None:
        quota, count = self._objects.get(f"resourcequotas/{team}/pods"), len(self._active[team])
        if quota is not None and count > int(quota["spec"]["hard"]["pods"]):
            self._note(event, f"{count} pods, the quota of {team} is {quota['spec']['hard']['pods']}")

    def _within_budget(self, event: Event, app: str) -> None:
        """More pods are healthy than the budget asks for, or it is not one of them that goes."""
        budget = self._objects.get(f"poddisruptionbudgets.policy/{app}")
        if budget is None or event.key not in self._healthy[app]:
            return
        healthy, desired = len(self._healthy[app]), budget["status"]["desiredHealthy"]
        if healthy <= desired:
            self._note(event, f"evicted with {healthy} healthy pods of {desired}")


def _is_evicted(pod: Mapping[str, Any]) -> bool:
    return any(each.get("reason") == _EVICTED for each in pod.get("status", {}).get("conditions") or ())


def _is_healthy(pod: Mapping[str, Any]) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _report() -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "report"}]}}
    job = {"spec": {"completions": 2, "parallelism": 2, "template": template}}
    spec = {"schedule": "*/10 * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": job}
    return {"metadata": {"name": "report"}, "spec": spec}


def _has_ended(pod: core_v1.Pod) -> bool:
    return pod.status.phase in {"Succeeded", "Failed"}


def _ready(obj: core_v1.Pod | core_v1.Node) -> bool:
    conditions: Any = obj.status.conditions
    return any(each.type == "Ready" and each.status == "True" for each in conditions)
