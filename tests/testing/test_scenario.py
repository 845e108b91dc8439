"""A scenario is told the same way each time with the same seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.node.simulated.durations import StageError
from setpoint.testing.scenario import play, read

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: v1}]}
"""
STAGES = """
kind: SimulatedPods
rules: [{create: {after: 1s, jitter: 5s}}]
"""
SCENARIO = """
kind: Scenario
nodes: 2
stages: stages.yaml
timeline:
- {at: 20s, scale: {deployment: web, replicas: 3}}
- {at: 0, apply: web.yaml}
- {at: 30s, drain: node-1}
- {at: 40s, uncordon: node-1}
- {at: 60s, fail: node-2, for: 70s}
- {at: 150s, delete: {kind: Deployment, name: web}}
- {at: 155s, delete: {kind: Deployment, name: web}}
end: 3m
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    for name, text in (("web", WEB), ("stages", STAGES), ("scenario", SCENARIO)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "scenario.yaml"


async def told(file: Path, seed: int) -> list[str]:
    lines: list[str] = []
    await play(file, seed, lines.append)
    return lines


async def test_the_same_seed_tells_the_same(scenario: Path) -> None:
    first = await told(scenario, 7)
    assert first == await told(scenario, 7)
    text = "\n".join(first)
    for part in (
        "20.000 -- scale",
        "node node-1 is Ready, cordoned",
        "-- node-1 is drained, 0 pods are left",
        "node node-2 is NotReady",
        "130.000 -- node-2 is back",
        '155.000 -- refused: deployments.apps "web" not found',
    ):
        assert part in text
    assert sum("is gone" in line for line in first) >= 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Scenario", "timeline"),
        ("{kind: Scenario, end: 1m, timeline: [{at: 1s}]}", r"timeline\[0\]: name one of apply"),
        ("{kind: Scenario, end: 1m, timeline: [{at: soon, fail: n}]}", r"timeline\[0\].at: 'soon' is no duration"),
        ("{kind: Pod, end: 1m, timeline: []}", "Scenario was expected"),
    ],
)
def test_what_is_no_scenario_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StageError, match=message):
        read(file)
