"""Random users of StatefulSets, DaemonSets, Jobs and CronJobs, each behind a Service, in the same trouble as `chaos` makes.

    workloads = Workloads(cluster)
    await workloads.run(steps=40)
    await workloads.heal()
    await cluster.until(workloads.converged)

What must hold at every write is in `Exactness`: nothing that is counted is counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import apps_v1, batch_v1, core_v1, discovery_v1
from setpoint.client.owners import controller_of
from setpoint.node.simulated import Stages
from setpoint.storage.protocol import Event
from setpoint.testing.chaos import NAMESPACE, Chaos
from setpoint.testing.cluster import VirtualCluster
from setpoint.testing.invariants import Invariants

KINDS: Mapping[str, Resource[Any]] = {
    "StatefulSet": apps_v1.STATEFULSETS,
    "DaemonSet": apps_v1.DAEMONSETS,
    "Job": batch_v1.JOBS,
    "CronJob": batch_v1.CRONJOBS,
}
MOST = 4
FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


class Declared(Struct):
    """What the users want of one workload."""

    kind: str
    size: int = 1
    image: str = "v1"
    paused: bool = False


def stages(pod: core_v1.Pod) -> Stages:
    """Pods of Jobs end after some seconds, every fourth of them badly; the others run."""
    last = sum(pod.metadata.name.encode())
    return Stages(fail=2.0) if pod.spec.restart_policy == "Never" and not last % 4 else Stages(complete=1.0 + last % 5)


class Workloads(Chaos):
    """`declared` by name; what `chaos` does to nodes, links and components it does here, too."""

    def __init__(self, cluster: VirtualCluster) -> None:
        super().__init__(cluster)
        self.wanted: dict[str, Declared] = {}

    # -- users

    def _any(self, *kinds: str) -> str:
        names = sorted(name for name, each in self.wanted.items() if each.kind in kinds)
        return self.rng.choice(names) if names else ""

    async def _change(self, name: str, spec: Mapping[str, Any], kind: str = "strategic") -> None:
        resource = KINDS[self.wanted[name].kind]
        await self.client.patch(resource, name, {"spec": spec}, NAMESPACE, kind=kind)

    async def _create(self) -> str:
        if len(self.wanted) >= MOST:
            return ""
        self._made += 1
        kind = self.rng.choice(sorted(KINDS))
        name, size = f"{kind.lower()}{self._made}", self.rng.randint(1, 4)
        spec = getattr(self, f"_{kind.lower()}")(name, size)
        await self.client.create(KINDS[kind], {"metadata": {"name": name}, "spec": spec}, NAMESPACE)
        self.wanted[name] = Declared(kind, size)
        service = {"metadata": {"name": name}, "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}}
        await self.client.create(core_v1.SERVICES, service, NAMESPACE)
        return f"create {name}: {spec}"

    def _template(self, name: str, policy: str = "Always") -> dict[str, Any]:
        spec = {"containers": [{"name": "c", "image": "v1"}], "restartPolicy": policy}
        return {"metadata": {"labels": {"app": name}}, "spec": spec}

    def _statefulset(self, name: str, size: int) -> dict[str, Any]:
        return {
            "replicas": size,
            "serviceName": name,
            "podManagementPolicy": self.rng.choice(("OrderedReady", "Parallel")),
            "minReadySeconds": self.rng.choice((0, 0, 3)),
            "revisionHistoryLimit": self.rng.choice((0, 2)),
            "selector": {"matchLabels": {"app": name}},
            "template": self._template(name),
        }

    def _daemonset(self, name: str, _: int) -> dict[str, Any]:
        rolling = self.rng.choice(({"maxUnavailable": 1}, {"maxUnavailable": "100%"}, {"maxSurge": 1, "maxUnavailable": 0}))
        return {
            "minReadySeconds": self.rng.choice((0, 3)),
            "revisionHistoryLimit": self.rng.choice((0, 2)),
            "updateStrategy": {"rollingUpdate": rolling},
            "selector": {"matchLabels": {"app": name}},
            "template": self._template(name),
        }

    def _job(self, name: str, size: int) -> dict[str, Any]:
        mode = self.rng.choice(("NonIndexed", "Indexed"))
        per_index = {"backoffLimitPerIndex": 3} if mode == "Indexed" and self.rng.random() < 0.5 else {}
        return {
            "completions": size,
            "parallelism": self.rng.randint(1, 3),
            "completionMode": mode,
            "podReplacementPolicy": self.rng.choice(("TerminatingOrFailed", "Failed")),
            "template": self._template(name, self.rng.choice(("Never", "OnFailure"))),
            **per_index,
        }

    def _cronjob(self, name: str, size: int) -> dict[str, Any]:
        template = {"template": self._template(name, "Never"), "completions": size, "parallelism": size}
        policy = self.rng.choice(("Allow", "Forbid", "Replace"))
        return {"schedule": "*/1 * * * *", "concurrencyPolicy": policy, "jobTemplate": {"spec": template}}

    async def _scale(self) -> str:
        if not (name := self._any("StatefulSet")):
            return ""
        size = self.rng.randint(0, 4)
        await self._change(name, {"replicas": size})
        self.wanted[name].size = size
        return f"scale {name} to {size}"

    async def _update(self) -> str:
        if not (name := self._any("StatefulSet", "DaemonSet")):
            return ""
        image = f"v{self.rng.randint(1, 4)}"
        await self._change(name, {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}})
        self.wanted[name].image = image
        return f"set image of {name} to {image}"

    async def _set_paused(self, *, value: bool) -> str:
        if not (name := self._any("Job", "CronJob")):
            return ""
        await self._change(name, {"suspend": value})
        self.wanted[name].paused = value
        return f"{'suspend' if value else 'resume'} {name}"

    async def _delete(self) -> str:
        if not (name := self._any(*KINDS)):
            return ""
        policy = self.rng.choice(("Background", "Foreground"))
        await self.client.delete(KINDS[self.wanted[name].kind], name, NAMESPACE, propagation=policy)
        del self.wanted[name]
        await self.client.delete(core_v1.SERVICES, name, NAMESPACE)
        return f"delete {name} ({policy})"

    async def _delete_replica_set(self) -> str:
        """There are none; parallelism of a Job instead."""
        if not (name := self._any("Job")):
            return ""
        parallelism = self.rng.randint(1, 4)
        await self._change(name, {"parallelism": parallelism})
        return f"parallelism of {name}: {parallelism}"

    async def _relabel_pod(self) -> str:
        """A stray pod would keep its name for ever, and with it a StatefulSet from going on."""
        return ""

    async def heal(self) -> None:
        """Beside the trouble, end what would go on for ever: CronJobs are suspended, Jobs resumed."""
        await super().heal()
        for name, each in self.wanted.items():
            if each.kind in {"Job", "CronJob"}:
                await self._change(name, {"suspend": each.kind == "CronJob"})

    # -- the end

    async def differences(self) -> list[str]:
        """What is not as it was declared."""
        pods = list((await self.client.list(core_v1.PODS, NAMESPACE)).items)
        found = []
        for name, each in self.wanted.items():
            obj = await self.client.get(KINDS[each.kind], name, NAMESPACE)
            own = [pod for pod in pods if _is_of(pod, obj)]
            problems = getattr(self, f"_{each.kind.lower()}_differences")(obj, each, own)
            found += [f"{name}: {problem}" for problem in [*problems, *await self._published(name, pods)]]
        return found + await self._left_over(pods)

    def _statefulset_differences(self, obj: apps_v1.StatefulSet, each: Declared, own: list[core_v1.Pod]) -> Iterable[str]:
        names = sorted(pod.metadata.name for pod in own)
        if names != [f"{obj.metadata.name}-{ordinal}" for ordinal in range(each.size)]:
            yield f"pods {names}, {each.size} wanted"
        yield from _pod_differences(own, each.image)
        status = obj.status
        counts = (status.replicas, status.ready_replicas, status.available_replicas, status.updated_replicas)
        if counts != (each.size,) * 4 or status.current_replicas != each.size:
            yield f"status {status}"
        if status.current_revision != status.update_revision:
            yield f"revisions {status.current_revision}, {status.update_revision}"

    def _daemonset_differences(self, obj: apps_v1.DaemonSet, each: Declared, own: list[core_v1.Pod]) -> Iterable[str]:
        nodes = sorted(self.cluster.nodes.nodes)
        if sorted(pod.spec.node_name for pod in own) != nodes:
            yield f"pods on {sorted(pod.spec.node_name for pod in own)}"
        yield from _pod_differences(own, each.image)
        status, count = obj.status, len(nodes)
        counts = (status.desired_number_scheduled, status.number_available, status.updated_number_scheduled)
        if counts != (count,) * 3 or status.number_misscheduled or status.number_unavailable:
            yield f"status {status}"

    def _job_differences(self, obj: batch_v1.Job, _: Declared, own: list[core_v1.Pod]) -> Iterable[str]:
        status = obj.status
        ended = [condition.type for condition in status.conditions if condition.status == "True"]
        listed = status.uncounted_terminated_pods
        if not {"Complete", "Failed"} & {*ended}:
            yield f"goes on: {status}"
        if "Complete" in ended and status.succeeded < (obj.spec.completions or 1):
            yield f"complete with {status.succeeded} of {obj.spec.completions}"
        if status.active or status.terminating or (listed is not None and (listed.succeeded or listed.failed)):
            yield f"finished with {status}"
        yield from (f"{pod.metadata.name} still has {FINALIZER}" for pod in own if FINALIZER in pod.metadata.finalizers)

    def _cronjob_differences(self, obj: batch_v1.CronJob, _: Declared, __: list[core_v1.Pod]) -> Iterable[str]:
        if obj.status.active:
            yield f"active {obj.status.active}"

    async def _published(self, name: str, pods: list[core_v1.Pod]) -> list[str]:
        """Endpoints and slices list what is ready, once."""
        behind = [pod for pod in pods if pod.metadata.labels.get("app") == name and _ready(pod)]
        ready = sorted(pod.status.pod_ip for pod in behind if not pod.metadata.deletion_timestamp)
        made = (await self.client.list(core_v1.ENDPOINTS, NAMESPACE, field_selector=f"metadata.name={name}")).items
        listed = sorted(address.ip for each in made for subset in each.subsets for address in subset.addresses)
        selector = f"kubernetes.io/service-name={name}"
        slices = (await self.client.list(discovery_v1.ENDPOINTSLICES, NAMESPACE, label_selector=selector)).items
        sliced = [one for each in slices for one in each.endpoints or ()]
        shown = sorted(address for one in sliced if one.conditions.ready for address in one.addresses or ())
        return [f"published {listed}, {shown}; ready {ready}"] if not made or not listed == shown == ready else []

    async def _left_over(self, pods: list[core_v1.Pod]) -> list[str]:
        """What nobody owns any more."""
        jobs = list((await self.client.list(batch_v1.JOBS, NAMESPACE)).items)
        revisions = list((await self.client.list(apps_v1.CONTROLLERREVISIONS, NAMESPACE)).items)
        owners: set[str] = {job.metadata.uid for job in jobs}
        for name, each in self.wanted.items():
            owners.add((await self.client.get(KINDS[each.kind], name, NAMESPACE)).metadata.uid)
        found = []
        dependents: list[Any] = [*pods, *jobs, *revisions]
        for obj in dependents:
            ref = controller_of(obj.metadata)
            if ref is not None and ref.uid not in owners:
                found.append(f"{obj.metadata.name}: its owner {ref.name} is gone")
            if obj.metadata.deletion_timestamp:
                found.append(f"{obj.metadata.name} is still being deleted")
        services = {service.metadata.name for service in (await self.client.list(core_v1.SERVICES, NAMESPACE)).items}
        published = [endpoints.metadata.name for endpoints in (await self.client.list(core_v1.ENDPOINTS, NAMESPACE)).items]
        return found + [f"endpoints {name}: the service is gone" for name in published if name not in services]


def _is_of(pod: core_v1.Pod, owner: Any) -> bool:
    ref = controller_of(pod.metadata)
    return ref is not None and ref.uid == owner.metadata.uid


def _ready(pod: core_v1.Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def _pod_differences(pods: Iterable[core_v1.Pod], image: str) -> Iterable[str]:
    for pod in pods:
        if not _ready(pod) or pod.metadata.deletion_timestamp or pod.spec.containers[0].image != image:
            yield f"{pod.metadata.name} with {pod.spec.containers[0].image} is {pod.status.phase}"


class Exactness(Invariants):
    """What a Job counts never goes back, and no index has two pods at work, but for those whose creation was lost sight of."""

    def check(self, event: Event) -> None:
        old = self._objects.get(event.key)
        super().check(event)
        if event.record is None or not event.key.startswith(("jobs.batch/", "pods/")):
            return
        new = self._objects[event.key]
        if event.key.startswith("jobs.batch/"):
            for problem in _counts(old, new):
                self._note(event, problem)
        elif event.key.startswith("pods/") and old is None and INDEX in new["metadata"].get("annotations", {}):
            self._one_of_an_index(event, new)

    def _one_of_an_index(self, event: Event, pod: Mapping[str, Any]) -> None:
        owner = next((ref for ref in pod["metadata"].get("ownerReferences", ()) if ref.get("controller")), None)
        if owner is None:
            return
        siblings = [each for each in self._controlled("pods/", owner["uid"]) if _is_at_work(each)]
        counts = Counter(each["metadata"]["annotations"].get(INDEX) for each in siblings)
        surplus = sum(count - 1 for count in counts.values())
        if surplus > self._slack():
            self._note(event, f"indexes of {owner['name']}: {counts}")


def _is_at_work(pod: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in {"Succeeded", "Failed"}


def _counts(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> Iterable[str]:
    if old is None or old["metadata"]["uid"] != new["metadata"]["uid"]:
        return
    before, after = old.get("status") or {}, new.get("status") or {}
    for field in ("succeeded", "failed"):
        if after.get(field, 0) < before.get(field, 0):
            yield f"{field} went from {before[field]} back to {after.get(field, 0)}"
    ended = {each["type"] for each in before.get("conditions", ()) if each["status"] == "True"}
    now = {each["type"] for each in after.get("conditions", ()) if each["status"] == "True"}
    for kind in ended & {"Complete", "Failed"} - now:
        yield f"it was {kind} and is not any more"
