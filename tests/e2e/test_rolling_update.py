"""A rolling update under a watching client: the bounds hold at every event of the watch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from setpoint.testing.manifests import deployment
from setpoint.testing.real import Kubectl, eventually

REPLICAS, SURGE, UNAVAILABLE = 4, 1, 1
STRATEGY = f"""
  strategy: {{type: RollingUpdate, rollingUpdate: {{maxSurge: {SURGE}, maxUnavailable: {UNAVAILABLE}}}}}
  selector:"""


def test_bounds_hold_at_every_event(kubectl: Kubectl, namespace: str) -> None:
    manifest = deployment(replicas=REPLICAS).replace("\n  selector:", STRATEGY)
    kubectl("apply", "-n", namespace, "-f", "-", stdin=manifest)
    kubectl("rollout", "status", "-n", namespace, "deployment/web", "--timeout=40s")
    with kubectl.start("get", "pods", "-n", namespace, "-w", "-o", "json", "--output-watch-events") as watcher:
        assert watcher.stdout is not None
        first = watcher.stdout.read(1)  # it has its list, and misses nothing from there on
        kubectl("set", "image", "-n", namespace, "deployment/web", "app=demo:v2")
        kubectl("rollout", "status", "-n", namespace, "deployment/web", "--timeout=60s")
        eventually(lambda: {pod["spec"]["containers"][0]["image"] for pod in pods(kubectl, namespace)} == {"demo:v2"})
        watcher.kill()
        said = first + watcher.stdout.read()
    held: dict[str, dict[str, Any]] = {}
    initial = REPLICAS
    changes = 0
    for event in events(said):
        pod = event["object"]
        uid = pod["metadata"]["uid"]
        if event["type"] == "DELETED":
            held.pop(uid, None)
        else:
            held[uid] = pod
        initial -= event["type"] == "ADDED" and initial > 0
        if initial:
            continue  # the watch's own first events come one by one
        changes += 1
        alive = [found for found in held.values() if "deletionTimestamp" not in found["metadata"]]
        assert len(alive) <= REPLICAS + SURGE, summary(alive)
        assert sum(map(ready, alive)) >= REPLICAS - UNAVAILABLE, summary(alive)
    assert changes > 2 * REPLICAS


def pods(kubectl: Kubectl, namespace: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kubectl("get", "pods", "-n", namespace, "-o", "json"))["items"]
    return found


def events(text: str) -> Iterator[dict[str, Any]]:
    """The JSON documents of a stream; the last one may be cut off."""
    decoder, position = json.JSONDecoder(), 0
    while (position := text.find("{", position)) >= 0:
        try:
            event, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return
        yield event


def ready(pod: dict[str, Any]) -> bool:
    return any(row["type"] == "Ready" and row["status"] == "True" for row in pod["status"].get("conditions", ()))


def summary(found: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    return [(pod["metadata"]["name"], pod["status"].get("phase", ""), ready(pod)) for pod in found]
