"""Random users and random trouble for a `VirtualCluster`, from one seed; and the question whether it ended in the declared state.

    chaos = Chaos(cluster)
    await chaos.run(steps=40)
    await chaos.heal()
    await cluster.until(chaos.converged)

Users declare, change, pause and delete Deployments, and meddle with pods and ReplicaSets. Trouble is what a network, a busy
server, a power cut and a restart do. `log` tells the story.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.owners import controller_of
from setpoint.testing.cluster import CONTROLLERS, NODES, SCHEDULER, VirtualCluster
from setpoint.testing.faults import STORMY, WELL

NAMESPACE = "default"
MAX_DEPLOYMENTS = 3
STRATEGIES: tuple[dict[str, Any], ...] = (
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "50%"}},
    {"type": "Recreate"},
)


@dataclass(frozen=True, slots=True)
class Declared:
    """What the users want of one Deployment."""

    replicas: int
    image: str
    paused: bool = False


class Chaos:
    """Acts on a cluster with the cluster's own generator of chance."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self.cluster = cluster
        self.client = cluster.client
        cluster.faults.calm()
        self.rng = cluster.rng
        self.declared: dict[str, Declared] = {}
        self.log: list[str] = []
        self._made = 0
        self._stopped: set[str] = set()
        user: tuple[tuple[int, Callable[[], Awaitable[str]]], ...] = (
            (6, self._create),
            (8, self._scale),
            (8, self._update),
            (3, self._pause),
            (3, self._resume),
            (2, self._delete),
            (5, self._delete_pod),
            (2, self._delete_replica_set),
            (2, self._relabel_pod),
            (2, self._cordon),
            (2, self._uncordon),
        )
        trouble: tuple[tuple[int, Callable[[], Awaitable[str]]], ...] = (
            (3, self._storm),
            (3, self._calm),
            (2, self._outage),
            (3, self._break_watches),
            (2, self._restart_api_server),
            (4, self._restart),
            (2, self._stop),
            (3, self._freeze),
            (3, self._kill),
            (3, self._revive),
        )
        self._actions = [action for _, action in (*user, *trouble)]
        self._weights = [weight for weight, _ in (*user, *trouble)]

    async def run(self, steps: int) -> None:
        """Take `steps` actions with pauses of up to 20 seconds, most of them much shorter."""
        for _ in range(steps):
            await self.step()
            await self.cluster.advance(self.rng.choice((0, 0.01, 0.5, 1, 2, 5, 20)) * self.rng.random())

    async def step(self) -> None:
        action = self.rng.choices(self._actions, self._weights)[0]
        try:
            told = await action()
        except StatusError as error:
            told = f"{action.__name__}: {error.message}"
        if told:
            self.log.append(f"{self.cluster.clock.elapsed:9.3f} {told}")

    async def heal(self) -> None:
        """End all trouble, and let nothing paused or cordoned stand in the way."""
        cluster = self.cluster
        cluster.faults.calm()
        for name in sorted(self._stopped):
            cluster.start(name)
        self._stopped.clear()
        for name in cluster.nodes.nodes:
            cluster.nodes.start(name)
        for node in (await self.client.list(core_v1.NODES)).items:
            await self.client.patch(core_v1.NODES, node.metadata.name, {"spec": {"unschedulable": None}})
        for name, wanted in self.declared.items():
            if wanted.paused:
                await self._patch(name, {"paused": False})
                self.declared[name] = replace(wanted, paused=False)
        self.log.append(f"{cluster.clock.elapsed:9.3f} healed")

    # -- users

    def _any_deployment(self) -> str:
        return self.rng.choice(sorted(self.declared)) if self.declared else ""

    async def _patch(self, name: str, spec: dict[str, Any]) -> None:
        await self.client.patch(apps_v1.DEPLOYMENTS, name, {"spec": spec}, NAMESPACE, kind="strategic")

    async def _create(self) -> str:
        if len(self.declared) >= MAX_DEPLOYMENTS:
            return ""
        self._made += 1
        name, wanted = f"d{self._made}", Declared(self.rng.randint(0, 5), "v1")
        spec = {
            "strategy": self.rng.choice(STRATEGIES),
            "minReadySeconds": self.rng.choice((0, 0, 3)),
            "revisionHistoryLimit": self.rng.choice((1, 10)),
        }
        await self.client.create(apps_v1.DEPLOYMENTS, deployment(name, wanted.replicas, wanted.image, **spec), NAMESPACE)
        self.declared[name] = wanted
        return f"create {name}: {wanted} {spec}"

    async def _scale(self) -> str:
        if not (name := self._any_deployment()):
            return ""
        replicas = self.rng.randint(0, 6)
        await self.client.patch(apps_v1.DEPLOYMENTS, name, {"spec": {"replicas": replicas}}, NAMESPACE, subresource="scale")
        self.declared[name] = replace(self.declared[name], replicas=replicas)
        return f"scale {name} to {replicas}"

    async def _update(self) -> str:
        """A new image, or one of the former ones: then it is a rollback."""
        if not (name := self._any_deployment()):
            return ""
        image = f"v{self.rng.randint(1, 4)}"
        await self._patch(name, {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}})
        self.declared[name] = replace(self.declared[name], image=image)
        return f"set image of {name} to {image}"

    async def _pause(self) -> str:
        return await self._set_paused(value=True)

    async def _resume(self) -> str:
        return await self._set_paused(value=False)

    async def _set_paused(self, *, value: bool) -> str:
        if not (name := self._any_deployment()):
            return ""
        await self._patch(name, {"paused": value})
        self.declared[name] = replace(self.declared[name], paused=value)
        return f"{'pause' if value else 'resume'} {name}"

    async def _delete(self) -> str:
        if not (name := self._any_deployment()):
            return ""
        policy = self.rng.choice(("Background", "Foreground"))
        del self.declared[name]
        await self.client.delete(apps_v1.DEPLOYMENTS, name, NAMESPACE, propagation=policy)
        return f"delete {name} ({policy})"

    async def _any_pod(self) -> core_v1.Pod | None:
        pods = (await self.client.list(core_v1.PODS, NAMESPACE)).items
        return self.rng.choice(pods) if pods else None

    async def _delete_pod(self) -> str:
        if (pod := await self._any_pod()) is None:
            return ""
        grace = self.rng.choice((None, 0, 1))
        await self.client.delete(core_v1.PODS, pod.metadata.name, NAMESPACE, grace_seconds=grace)
        return f"delete pod {pod.metadata.name} (grace {grace})"

    async def _delete_replica_set(self) -> str:
        found = (await self.client.list(apps_v1.REPLICASETS, NAMESPACE)).items
        if not found:
            return ""
        name = self.rng.choice(found).metadata.name
        await self.client.delete(apps_v1.REPLICASETS, name, NAMESPACE, propagation="Background")
        return f"delete replica set {name}"

    async def _relabel_pod(self) -> str:
        if (pod := await self._any_pod()) is None:
            return ""
        await self.client.patch(core_v1.PODS, pod.metadata.name, {"metadata": {"labels": {"app": "stray"}}}, NAMESPACE)
        return f"relabel pod {pod.metadata.name}"

    def _any_node(self) -> str:
        return self.rng.choice(sorted(self.cluster.nodes.nodes)) if NODES not in self._stopped else ""

    async def _cordon(self) -> str:
        if name := self._any_node():
            await self.client.patch(core_v1.NODES, name, {"spec": {"unschedulable": True}})
        return f"cordon {name}"

    async def _uncordon(self) -> str:
        if name := self._any_node():
            await self.client.patch(core_v1.NODES, name, {"spec": {"unschedulable": None}})
        return f"uncordon {name}"

    # -- trouble

    async def _storm(self) -> str:
        self.cluster.faults.rates = STORMY
        return "storm"

    async def _calm(self) -> str:
        self.cluster.faults.rates = WELL
        return "calm"

    async def _outage(self) -> str:
        self.cluster.faults.down = True
        await self.cluster.advance(self.rng.random() * 10)
        self.cluster.faults.down = False
        return "the server was unreachable until now"

    async def _break_watches(self) -> str:
        self.cluster.faults.break_watches()
        return "all watches break"

    async def _restart_api_server(self) -> str:
        await self.cluster.restart_api_server()
        return "the API server restarts"

    def _any_part(self) -> str:
        running = sorted({CONTROLLERS, SCHEDULER, NODES} - self._stopped)
        return self.rng.choice(running) if running else ""

    async def _restart(self) -> str:
        if name := self._any_part():
            await self.cluster.restart(name)
        return f"{name} restarts"

    async def _stop(self) -> str:
        """Something is stopped, or what was stopped is started."""
        if self._stopped:
            name = self._stopped.pop()
            self.cluster.start(name)
            return f"{name} starts"
        if name := self._any_part():
            await self.cluster.stop(name)
            self._stopped.add(name)
        return f"{name} stops"

    async def _freeze(self) -> str:
        if name := self._any_node():
            self.cluster.nodes.freeze(name)
        return f"{name} is cut off"

    async def _kill(self) -> str:
        if name := self._any_node():
            self.cluster.nodes.kill(name)
        return f"{name} loses power"

    async def _revive(self) -> str:
        if name := self._any_node():
            self.cluster.nodes.start(name)
        return f"{name} is back"

    # -- the end

    async def converged(self) -> bool:
        """The declared state is reached."""
        return not await self.differences()

    async def differences(self) -> list[str]:
        """What is not as it was declared."""
        deployments = (await self.client.list(apps_v1.DEPLOYMENTS, NAMESPACE)).items
        replica_sets = (await self.client.list(apps_v1.REPLICASETS, NAMESPACE)).items
        pods = (await self.client.list(core_v1.PODS, NAMESPACE)).items
        found = []
        names = sorted(each.metadata.name for each in deployments)
        if names != sorted(self.declared):
            found.append(f"deployments {names}, declared {sorted(self.declared)}")
        for each in deployments:
            if each.metadata.name in self.declared:
                found += self._differences(each, replica_sets, pods)
        owners: list[Any] = [*deployments, *replica_sets]
        uids = {each.metadata.uid for each in owners}
        dependents: list[Any] = [*replica_sets, *pods]
        for orphan in dependents:
            ref = controller_of(orphan.metadata)
            if ref is not None and ref.uid not in uids:
                found.append(f"{orphan.metadata.name}: its owner {ref.name} is gone")
            if orphan.metadata.deletion_timestamp:
                found.append(f"{orphan.metadata.name} is still being deleted")
        for node in (await self.client.list(core_v1.NODES)).items:
            if not _ready(node) or node.spec.taints:
                found.append(f"{node.metadata.name} is not ready, or tainted {node.spec.taints}")
        return found

    def _differences(self, deployment: apps_v1.Deployment, replica_sets: Any, pods: Any) -> list[str]:
        name, wanted = deployment.metadata.name, self.declared[deployment.metadata.name]
        own = [each for each in replica_sets if _owned(each, deployment)]
        current = [each for each in own if each.spec.template.spec.containers[0].image == wanted.image]
        if len(current) != 1:
            return [f"{name}: {len(current)} replica sets with {wanted.image}"]
        running = [pod for pod in pods if any(_owned(pod, each) for each in own)]
        good = [pod for pod in running if _owned(pod, current[0]) and _ready(pod) and not pod.metadata.deletion_timestamp]
        status = deployment.status
        facts = {
            "pods": (len(running), wanted.replicas),
            "ready pods of the current version": (len(good), wanted.replicas),
            "replicas of the current version": (current[0].spec.replicas, wanted.replicas),
            "replicas in all": (sum(each.spec.replicas or 0 for each in own), wanted.replicas),
            "status.replicas": (status.replicas, wanted.replicas),
            "status.updatedReplicas": (status.updated_replicas, wanted.replicas),
            "status.availableReplicas": (status.available_replicas, wanted.replicas),
            "status.unavailableReplicas": (status.unavailable_replicas, 0),
            "status.terminatingReplicas": (status.terminating_replicas, 0),
            "observed generation": (status.observed_generation, deployment.metadata.generation),
        }
        return [f"{name}: {fact} {is_} instead of {should}" for fact, (is_, should) in facts.items() if is_ != should]


def _owned(obj: Any, owner: Any) -> bool:
    ref = controller_of(obj.metadata)
    return ref is not None and ref.uid == owner.metadata.uid


def _ready(obj: core_v1.Pod | core_v1.Node) -> bool:
    conditions: Sequence[Any] = obj.status.conditions
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def deployment(name: str, replicas: int, image: str = "v1", **spec: Any) -> dict[str, Any]:
    """A Deployment's body whose pods carry the label `app: <name>`."""
    labels = {"app": name}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}},
            **spec,
        },
    }
