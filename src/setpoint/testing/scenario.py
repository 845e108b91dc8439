"""A scenario: what is done to a simulated cluster, and when; played on virtual time, it tells what happened.

    python -m setpoint.testing.scenario rollout.yaml --seed 7

    apiVersion: setpoint/v1
    kind: Scenario
    nodes: 10
    stages: stages.yaml
    timeline:
    - {at: 0s, apply: web.yaml}
    - {at: 1m, scale: {deployment: web, replicas: 20}}
    - {at: 2m, fail: node-3, for: 6m}
    - {at: 5m, drain: node-1}
    - {at: 8m, delete: {kind: Deployment, name: web}}
    end: 10m

The same scenario with the same seed tells the same to the letter. Files are found beside the scenario's own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson
import yaml
from msgspec import Struct, field

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1
from setpoint.client.discovery import discover
from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.node.simulated import Stages
from setpoint.node.simulated.chance import Chance
from setpoint.node.simulated.declared import load as load_stages
from setpoint.node.simulated.durations import StageError, seconds
from setpoint.storage.protocol import Event
from setpoint.testing.cluster import VirtualCluster
from setpoint.testing.draining import cordon, drain

Say = Callable[[str], None]
ACTIONS = ("apply", "delete", "scale", "fail", "cut", "drain", "uncordon")
_FOLLOWED = ("pods/", "nodes/", "events/")


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A scenario as it is written; durations are Go's (`1m30s`) or seconds."""

    kind: str
    timeline: list[dict[str, Any]]
    end: str | float
    api_version: str = "setpoint/v1"
    nodes: int = 3
    stages: str = ""
    seed: int = field(default=0)


class Step(Struct, frozen=True):
    """One line of the timeline: at `at` seconds do `action` with `what`."""

    at: float
    action: str
    what: Any
    lasts: float | None = None


def read(file: Path) -> tuple[Scenario, list[Step]]:
    """Raises StageError for what is no scenario."""
    try:
        scenario = msgspec.convert(yaml.safe_load(file.read_text(encoding="utf-8")), Scenario)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise StageError(f"{file}: {error}") from error
    if scenario.kind != "Scenario":
        raise StageError(f"{file}: kind {scenario.kind}: Scenario was expected")
    return scenario, sorted((_step(index, each) for index, each in enumerate(scenario.timeline)), key=lambda step: step.at)


def _step(index: int, body: Mapping[str, Any]) -> Step:
    where = f"timeline[{index}]"
    named = [action for action in ACTIONS if action in body]
    if len(named) != 1 or set(body) - {"at", "for", *named}:
        raise StageError(f"{where}: name one of {', '.join(ACTIONS)}, beside at and for")
    lasts = seconds(body["for"], f"{where}.for") if "for" in body else None
    return Step(seconds(body.get("at", 0), f"{where}.at"), named[0], body[named[0]], lasts)


class Player:
    """Plays a scenario; `say` gets a line for whatever happens."""

    def __init__(self, cluster: VirtualCluster, directory: Path, say: Say) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._directory = directory
        self._say = say
        self._start = cluster.clock.elapsed
        self._tasks = Tasks("scenario")
        self._phases: dict[str, str] = {}

    async def play(self, steps: Iterable[Step], end: float) -> None:
        store = self._cluster.store
        async with self._tasks:
            async with await store.watch("", after=store.revision, capacity=1_000_000) as watch:
                self._tasks.start("followed", self._follow(watch))
                for step in steps:
                    await self._until(step.at)
                    await self._take(step)
                await self._until(end)
            self._tasks.stop()

    async def _until(self, moment: float) -> None:
        await self._cluster.advance(max(0.0, self._start + moment - self._cluster.clock.elapsed))

    def _tell(self, text: str) -> None:
        self._say(f"{self._cluster.clock.elapsed - self._start:10.3f} {text}")

    # -- what is done

    async def _take(self, step: Step) -> None:
        self._tell(f"-- {step.action} {step.what if isinstance(step.what, str) else orjson.dumps(step.what).decode()}")
        try:
            await getattr(self, f"_{step.action}")(step)
        except StatusError as error:
            self._tell(f"-- refused: {error.message}")

    async def _apply(self, step: Step) -> None:
        documents = step.what
        if isinstance(documents, str):
            documents = yaml.safe_load_all((self._directory / documents).read_text(encoding="utf-8"))
        for document in documents:
            resource = await self._resource(document["apiVersion"], document["kind"])
            namespace = document["metadata"].get("namespace", "default") if resource.namespaced else ""
            await self._client.apply(resource, document, namespace, force=True)

    async def _delete(self, step: Step) -> None:
        what = step.what
        resource = await self._resource(what.get("apiVersion", ""), what["kind"])
        await self._client.delete(resource, what["name"], what.get("namespace", "default") if resource.namespaced else "")

    async def _resource(self, api_version: str, kind: str) -> Resource[dict[str, Any]]:
        """By kind; without a version, the first that there is."""
        served = (await discover(self._client)).served
        for each in served:
            found = each.resource
            if found.kind == kind and api_version in {"", found.api_version}:
                return Resource(found.group, found.version, found.plural, kind, found.namespaced, dict)
        raise StageError(f"no resource of kind {kind} in {api_version or 'any version'}")

    async def _scale(self, step: Step) -> None:
        what = step.what
        patch = {"spec": {"replicas": what["replicas"]}}
        namespace = what.get("namespace", "default")
        await self._client.patch(apps_v1.DEPLOYMENTS, what["deployment"], patch, namespace, subresource="scale")

    async def _fail(self, step: Step) -> None:
        self._cluster.nodes.kill(step.what)
        self._return(step)

    async def _cut(self, step: Step) -> None:
        self._cluster.nodes.freeze(step.what)
        self._return(step)

    def _return(self, step: Step) -> None:
        async def back(lasts: float) -> None:
            await self._cluster.clock.sleep(lasts)
            self._tell(f"-- {step.what} is back")
            self._cluster.nodes.start(step.what)

        if step.lasts is not None:
            self._tasks.start(f"back {step.what}", back(step.lasts))

    async def _drain(self, step: Step) -> None:
        async def drained() -> None:
            left = await drain(self._client, self._cluster.clock, step.what)
            self._tell(f"-- {step.what} is drained, {left} pods are left")

        self._tasks.start(f"drain {step.what}", drained())

    async def _uncordon(self, step: Step) -> None:
        await cordon(self._client, step.what, closed=False)

    # -- what happens

    async def _follow(self, watch: Any) -> None:
        while True:
            for event in await watch.next():
                if event.key.startswith(_FOLLOWED):
                    self._see(event)

    def _see(self, event: Event) -> None:
        kind, _, name = event.key.partition("/")
        if kind == "events":
            if event.record is not None:
                obj = orjson.loads(event.record.value)
                about = obj["involvedObject"]
                self._tell(f"{about['kind'].lower()} {about['name']}: {obj['reason']}: {obj['message']}")
            return
        phase = _phase(kind, orjson.loads(event.record.value)) if event.record is not None else "gone"
        if self._phases.get(event.key) != phase:
            self._phases[event.key] = phase
            self._tell(f"{kind.removesuffix('s')} {name.removeprefix('default/')} is {phase}")


def _phase(kind: str, obj: Mapping[str, Any]) -> str:
    status = obj.get("status") or {}
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or ())
    if kind == "nodes":
        return ("Ready" if ready else "NotReady") + (", cordoned" if (obj.get("spec") or {}).get("unschedulable") else "")
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    where = (obj.get("spec") or {}).get("nodeName")
    return f"{status.get('phase', 'Pending')}{', Ready' if ready else ''}{f' on {where}' if where else ''}"


async def play(file: Path, seed: int | None, say: Say) -> None:
    """Play the scenario in `file`; `seed` instead of its own."""
    scenario, steps = read(file)
    chosen = scenario.seed if seed is None else seed
    clock = VirtualClock()
    stages = load_stages(file.parent / scenario.stages, Chance(chosen), clock) if scenario.stages else Stages()
    async with VirtualCluster(scenario.nodes, seed=chosen, stages=stages, clock=clock) as cluster:
        await Player(cluster, file.parent, say).play(steps, seconds(scenario.end, "end"))


def main() -> None:
    """`python -m setpoint.testing.scenario FILE [--seed N]`."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m setpoint.testing.scenario", description="Play a scenario on virtual time.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    if "PYTHONHASHSEED" not in os.environ:  # the order of sets is chance, too
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "setpoint.testing.scenario", *sys.argv[1:]])  # noqa: S606  itself
    try:
        asyncio.run(play(arguments.file, arguments.seed, lambda line: print(line, flush=True)))  # noqa: T201  # what it is for
    except StageError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
