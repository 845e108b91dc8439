from __future__ import annotations

from typing import Any

import pytest

from setpoint.node.simulated.durations import StageError
from setpoint.node.simulated.expressions import parse

CONDITIONS = [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "False"}]
POD = {
    "metadata": {"annotations": {"a.b/c": "5s", "bar|": "1"}, "deletionTimestamp": "", "finalizers": []},
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "False"}],
    },
    "spec": {"containers": [{"name": "a"}, {"name": "b"}]},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".status.phase", ["Running"]),
        (".status.nothing.more", []),
        (".metadata.deletionTimestamp", []),
        (".metadata.finalizers", []),
        ('.metadata.annotations["a.b/c"]', ["5s"]),
        ('.metadata.annotations["bar|"]', ["1"]),
        ('.status.conditions.[] | select( .type == "Ready" ) | .status', ["True"]),
        ('.status.conditions[] | select(.type != "Ready") | .type', ["Initialized"]),
        (".spec.containers.[].name", ["a", "b"]),
        (".spec.containers[1].name", ["b"]),
    ],
)
def test_finds_what_jq_finds(text: str, expected: list[Any]) -> None:
    assert parse(text)(POD) == expected


@pytest.mark.parametrize("text", [".a | length", "map(.x)", ".a | select(.b == x)"])
def test_what_is_not_supported_is_refused(text: str) -> None:
    with pytest.raises(StageError):
        parse(text)
