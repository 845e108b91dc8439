from __future__ import annotations

import msgspec
import pytest

from setpoint.api.machinery.selectors import parse_labels
from setpoint.api.types.core_v1 import Pod
from setpoint.client.store import Store
from setpoint.controllers.labelled import BY_LABEL, by_label, selected, with_labels


@pytest.fixture
def pods() -> Store[Pod]:
    store: Store[Pod] = Store({BY_LABEL: by_label})
    for name, labels in {"a": {"app": "x", "tier": "1"}, "b": {"app": "x"}, "c": {"app": "y"}, "d": {}}.items():
        store.put(msgspec.convert({"metadata": {"name": name, "namespace": "n", "labels": labels}}, Pod))
    return store


@pytest.mark.parametrize(
    ("selector", "found"),
    [("app=x", "ab"), ("tier,app=x", "a"), ("app in (x,y)", "abc"), ("app!=x", "cd"), ("", "abcd"), ("app=z", "")],
)
def test_what_a_selector_finds(pods: Store[Pod], selector: str, found: str) -> None:
    assert "".join(pod.metadata.name for pod in selected(pods, "n", parse_labels(selector))) == found


def test_what_a_service_chooses(pods: Store[Pod]) -> None:
    chosen = [
        with_labels(pods, "n", labels) for labels in ({"app": "x"}, {"app": "x", "tier": "1"}, {"app": "x", "tier": "2"}, {})
    ]
    assert [[pod.metadata.name for pod in each] for each in chosen] == [["a", "b"], ["a"], [], []]
