"""The short way of pods' status (`Strategy.keeps_stored_form`) stores the same bytes as the long one, whatever a patch says."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.apiserver.conftest import Api

from setpoint.api.machinery.schema import trees
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit.clock import VirtualClock
from setpoint.registry.pod.strategy import PodStatusStrategy
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.chance import seeded

PODS = "/api/v1/namespaces/d/pods"
STRATEGIC, MERGE, JSON = (f"application/{kind}-patch+json" for kind in ("strategic-merge", "merge", "json"))
RUNNING = {"name": "c", "ready": True, "restartCount": 0, "image": "i", "imageID": "", "state": {"running": {"startedAt": None}}}
STATUS: dict[str, list[Any]] = {
    "phase": ["Running", "", "Pending"],
    "message": ["", "m", None],
    "podIP": ["", "10.0.0.1"],
    "podIPs": [[], [{"ip": "10.0.0.1"}], None, [{"ip": "10.0.0.1"}, {"ip": "::1"}]],
    "containerStatuses": [[], [RUNNING], [{**RUNNING, "resources": {}, "volumeMounts": [], "state": {}}]],
    "qosClass": ["", "BestEffort", "Guaranteed"],
    "startTime": [None, "2030-01-01T00:00:00Z"],
    "observedGeneration": [0, 3],
}
METADATA: dict[str, list[Any]] = {
    "labels": [{}, {"a": "b"}, {"a": None}, None],
    "annotations": [{}, {"x": ""}, {"x": None}, {"pod.beta.kubernetes.io/init-containers": "z"}],
    "ownerReferences": [[], [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}]],
    "finalizers": [[], ["a.b/c"]],
}


def some(rng: random.Random, fields: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: rng.choice(values) for name, values in fields.items() if rng.random() < 0.3}


def condition(rng: random.Random) -> dict[str, Any]:
    more = some(rng, {"message": ["", "x", None], "lastTransitionTime": [None, "2030-01-01T00:00:00Z"]})
    return {"type": rng.choice("ABC"), "status": rng.choice(("True", "False", "")), **more}


def patch(rng: random.Random) -> tuple[str, Any]:
    status = some(rng, STATUS)
    if rng.random() < 0.5:
        status["conditions"] = [condition(rng) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.2:
        return JSON, [{"op": "add", "path": f"/status/{name}", "value": value} for name, value in status.items()]
    spec: Any = rng.choice(({}, {"nodeName": "n"}, {"tolerations": []}))
    return rng.choice((STRATEGIC, MERGE)), {"metadata": some(rng, METADATA), "spec": spec, "status": status}


async def stored(seed: int) -> list[Any]:
    """What is answered and stored after each of some patches."""
    rng, clock = random.Random(seed), VirtualClock()  # noqa: S311 - no secret
    store, found = memory_store(clock), []
    await store.open()
    with seeded(seed):
        api = Api(Pipeline(RESOURCES, store, clock, schemas=trees.load()), clock, store)
        await api(f"POST {PODS}", {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        for _ in range(12):
            clock.jump(rng.choice((0, 5)))
            media, body = patch(rng)
            line = f"PATCH {PODS}/a/status?fieldManager={rng.choice('kj')}&fieldValidation={rng.choice(('Strict', 'Warn'))}"
            answer = await api.respond(line, body, content_type=media)
            found.append((body, answer.status, answer.body, [record.value for record in (await store.list("")).records]))
    await store.close()
    return found


@pytest.mark.parametrize("seed", range(4, 9))
async def test_the_short_way_stores_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    short = await stored(seed)
    monkeypatch.setattr(PodStatusStrategy, "keeps_stored_form", False)
    assert short == await stored(seed)
