"""The steps of the demonstration. Each says what is done, waits until the system has done its part, and says what was seen."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from setpoint.api.types.apps_v1 import DEPLOYMENTS, Deployment
from setpoint.api.types.core_v1 import NODES, PODS, Pod
from setpoint.app.options import StartError
from setpoint.app.readiness import is_ready
from setpoint.cli.demo import processes
from setpoint.cli.demo.chain import Chain
from setpoint.cli.demo.cluster import DemoCluster
from setpoint.cli.demo.narrator import Narrator
from setpoint.client.client import Client

NAMESPACE, NAME = "default", "web"
REPLICAS = 3
_PATIENCE = 40.0  # seconds that any one step may take

Check = Callable[[], Awaitable[bool]]


def manifest(mark: str, version: str = "v1") -> dict[str, Any]:
    """The Deployment: a shell that says its name and its version, and waits."""
    says = 'trap "exit 0" TERM; echo "$POD_NAME runs version $VERSION on $NODE_NAME"; while :; do sleep 0.2; done'
    environment = [
        {"name": processes.MARK, "value": mark},
        {"name": "VERSION", "value": version},
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    container = {"name": "app", "image": f"demo:{version}", "command": ["sh", "-c", says], "env": environment}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"app": NAME}},
            "template": {
                "metadata": {"labels": {"app": NAME}},
                "spec": {"terminationGracePeriodSeconds": 2, "containers": [container]},
            },
        },
    }


class Demo:
    """One run of the demonstration against one cluster."""

    def __init__(self, cluster: DemoCluster, client: Client, narrator: Narrator) -> None:
        self._cluster = cluster
        self._client = client
        self._tell = narrator
        self._mark = f"demo-{os.getpid()}"
        self._lost = ""
        self._agent: subprocess.Popen[bytes] | None = None

    async def run(self) -> None:
        """All steps; raises StartError at the first that does not come out."""
        for step in (self.declare, self.heal, self.scale, self.roll, self.lose_a_node, self.recover, self.clean_up):
            await step()

    async def declare(self) -> None:
        self._tell.step(f"Declare a Deployment of {REPLICAS} replicas, and watch the chain")
        self._tell.command(f"kubectl create deployment {NAME} --image=demo:v1 --replicas={REPLICAS} -- sh -c '…'")
        async with Chain(self._client, self._tell, NAMESPACE):
            await self._client.create(DEPLOYMENTS, manifest(self._mark), NAMESPACE)
            await self._until("all replicas available", lambda: self._available(REPLICAS))
            await asyncio.sleep(0.2)  # let the last events be told
        found = processes.of_pods(self._mark)
        for name, process in sorted(found.items()):
            self._tell.say(f"pod {name} is process {process.pid}")
        self._tell.good(f"{REPLICAS} pods declared, {len(found)} processes run")

    async def heal(self) -> None:
        self._tell.step("Kill a process: the node agent brings it back")
        name, victim = min(processes.of_pods(self._mark).items())
        self._tell.command(f"kill -9 {victim.pid}   # the process of pod {name}")
        killed = time.monotonic()
        victim.kill()
        await self._until("a new process", lambda: self._restarted(name, victim.pid))
        new = processes.of_pods(self._mark)[name]
        self._tell.good(f"pod {name} is process {new.pid} now, after {time.monotonic() - killed:.2f} s; restartCount is 1")

    async def scale(self) -> None:
        self._tell.step("Scale to 5")
        self._tell.command(f"kubectl scale deployment {NAME} --replicas=5")
        await self._client.patch(DEPLOYMENTS, NAME, {"spec": {"replicas": 5}}, NAMESPACE, subresource="scale")
        await self._until("five available", lambda: self._available(5))
        self._tell.good(f"5 pods run, {self._spread(await self._pods())}")

    async def roll(self) -> None:
        self._tell.step("Roll an update: version v2, never fewer than 4 pods available")
        self._tell.command(f"kubectl set env deployment/{NAME} VERSION=v2")
        lowest = 5
        body = manifest(self._mark, "v2")["spec"]["template"]
        await self._client.patch(DEPLOYMENTS, NAME, {"spec": {"template": body}}, NAMESPACE, kind="strategic")

        async def rolled() -> bool:
            nonlocal lowest
            deployment = await self._deployment()
            lowest = min(lowest, deployment.status.available_replicas)
            return await self._available(5)

        await self._until("the update", rolled)
        await self._until("the old pods' end", lambda: self._only(5))
        versions = processes.values(self._mark, "VERSION")
        self._tell.good(f"every process runs version {', '.join(sorted(versions))}; at the lowest {lowest} were available")

    async def lose_a_node(self) -> None:
        pods = await self._pods()
        node = Counter(pod.spec.node_name for pod in pods).most_common(1)[0][0]
        lost = [pod.metadata.name for pod in pods if pod.spec.node_name == node]
        self._tell.step(f"Lose {node} and what runs on it: {', '.join(sorted(lost))}")
        self._tell.command(f"kill -9 {self._cluster.agent(node)} …   # its agent and everything below")
        self._kill_node(node)
        await self._until(f"{node} NotReady", lambda: self._node_is(node, ready=False))
        self._tell.say(f"{node} is NotReady: its heartbeat is missing")
        await self._until("the pods' replacement", lambda: self._moved(node))
        self._tell.good(f"5 pods run again without {node}, {self._spread(await self._pods(node))}")
        self._lost = node

    async def recover(self) -> None:
        node = self._lost
        self._tell.step(f"{node} returns")
        self._tell.command(f"setpoint component {node} --data-dir …")
        self._agent = self._cluster.start_agent(node)
        await self._until(f"{node} Ready", lambda: self._node_is(node, ready=True))
        await self._until("the lost pods' end", lambda: self._only(5))
        self._tell.good(f"{node} is Ready; what was left of its old pods is gone, and exactly 5 pods are there")

    async def clean_up(self) -> None:
        self._tell.step("Delete the Deployment: everything goes")
        self._tell.command(f"kubectl delete deployment {NAME}")
        await self._client.delete(DEPLOYMENTS, NAME, NAMESPACE)
        await self._until("no pods", lambda: self._only(0))
        await self._until("no processes", self._no_processes)
        self._tell.good("no pod, no process is left")

    def end(self) -> None:
        """Stop the agent that `recover` started."""
        if self._agent is not None and self._agent.poll() is None:
            self._agent.send_signal(signal.SIGTERM)
            self._agent.wait()

    # --- looking ---

    async def _deployment(self) -> Deployment:
        return await self._client.get(DEPLOYMENTS, NAME, NAMESPACE)

    async def _pods(self, without: str = "") -> Sequence[Pod]:
        pods = (await self._client.list(PODS, NAMESPACE, label_selector=f"app={NAME}")).items
        return [pod for pod in pods if not pod.metadata.deletion_timestamp and pod.spec.node_name != without]

    async def _available(self, count: int) -> bool:
        status, deployment = (held := await self._deployment()).status, held
        if status.observed_generation < deployment.metadata.generation or len(await self._pods()) != count:
            return False
        return status.available_replicas == status.updated_replicas == status.replicas == count

    async def _restarted(self, name: str, old: int) -> bool:
        pod = await self._client.get(PODS, name, NAMESPACE)
        statuses = pod.status.container_statuses
        process = processes.of_pods(self._mark).get(name)
        return (
            bool(statuses) and statuses[0].restart_count == 1 and statuses[0].ready and process is not None and process.pid != old
        )

    async def _node_is(self, name: str, *, ready: bool) -> bool:
        return is_ready(await self._client.get(NODES, name)) is ready

    async def _moved(self, node: str) -> bool:
        running = [pod for pod in await self._pods(node) if pod.status.phase == "Running"]
        return len(running) == 5 and (await self._deployment()).status.available_replicas == 5

    async def _only(self, count: int) -> bool:
        pods = (await self._client.list(PODS, NAMESPACE, label_selector=f"app={NAME}")).items
        return len(pods) == count and all(not pod.metadata.deletion_timestamp for pod in pods)

    async def _no_processes(self) -> bool:
        return not processes.left(self._mark)

    @staticmethod
    def _spread(pods: Sequence[Pod]) -> str:
        counted = sorted(Counter(pod.spec.node_name for pod in pods).items())
        return ", ".join(f"{count} on {node}" for node, count in counted)

    def _kill_node(self, node: str) -> None:
        """SIGKILL the agent with its supervisors and their processes, as a power cut would."""
        import psutil

        agent = psutil.Process(self._cluster.agent(node))
        supervisors = [process for process in psutil.process_iter() if self._belongs(process, node)]
        for process in [agent, *agent.children(recursive=True), *supervisors]:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue

    def _belongs(self, process: Any, node: str) -> bool:
        import psutil

        try:
            folder = str(self._cluster.data.node(node))
            return any(folder in word for word in process.cmdline()) or process.environ().get("NODE_NAME") == node
        except (psutil.Error, OSError):
            return False

    async def _until(self, what: str, check: Check) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not await check():
            if time.monotonic() > deadline:
                raise StartError(f"the demonstration waited {_PATIENCE:.0f} s for {what} in vain")
            await asyncio.sleep(0.05)
