from __future__ import annotations

from pathlib import Path

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.node.checkpoint import Checkpoints

POD = convert({"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"containers": [{"name": "c"}]}}, Pod)


def test_secrets_are_for_nobody_else(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save_pod(POD)
    checkpoints.save_state("u", {})
    checkpoints.save_launch("u", "c", {"KEY": "secret"})
    found = [path.stat().st_mode & 0o077 for path in checkpoints.root.rglob("*")]
    assert len(found) == 5
    assert not any(found)


def test_a_removed_pod_is_not_taken_up_again_and_its_rest_goes_with_the_next_start(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save_pod(POD)
    checkpoints.save_state("u", {})
    checkpoints.remove("u")
    later = Checkpoints(tmp_path)
    assert [*later.uids()] == []
    later.sweep()
    assert not (later.root / "u").exists()
    later.save_pod(POD)
    later.sweep()
    assert [*later.uids()] == ["u"]
