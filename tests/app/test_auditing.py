"""The audit log as options ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.app import auditing
from setpoint.app.options import Audit
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store

_POLICY = "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request}]}"
_LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"b{n}: &b{n} [{', '.join(['*a' if n == 0 else f'*b{n - 1}'] * 9)}]\n" for n in range(6)
)


@pytest.mark.parametrize("body", ["data: {a: !!binary aGVsbG8=}", _LAUGHS, "[" * 5000], ids=["bytes", "aliases", "depth"])
async def test_whatever_yaml_says_fits_into_a_line(body: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(_POLICY)
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = Pipeline(RESOURCES, store, clock, schemas=trees.load())
    log = tmp_path / "audit.log"
    pipeline.audit, file = auditing.begin(Audit(str(tmp_path / "policy.yaml"), str(log)), pipeline, clock)
    headers = {"content-type": "application/apply-patch+yaml"}
    path = "/api/v1/namespaces/d/configmaps/a"
    await pipeline.handle(Request("PATCH", path, {"fieldManager": ["m"]}, headers, body.encode(), ADMIN))
    await file.close()
    await store.close()
    assert b"ResponseComplete" in log.read_bytes()
    assert len(log.read_bytes()) < 10_000
