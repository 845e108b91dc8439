"""The server's own kinds stay its own, whatever definitions say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from setpoint.testing.cluster import VirtualCluster

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

Ask = Callable[..., Awaitable[dict[str, Any]]]


def _definition(plural: str, kind: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "kind": kind}
    spec = {"group": "coordination.k8s.io", "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": f"{plural}.coordination.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved"}}
    return {"metadata": meta, "spec": spec}


@pytest.mark.parametrize(("plural", "kind"), [("leases", "Lease"), ("leases", "Other"), ("others", "Lease")])
async def test_a_definition_takes_nothing_from_the_servers_own_kind(
    ask: Ask, cluster: VirtualCluster, plural: str, kind: str
) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}}
    await ask("POST", _LEASES, lease)
    made = await ask("POST", _CRDS, _definition(plural, kind))
    assert made["kind"] == "CustomResourceDefinition"
    invalid = await ask("POST", _LEASES, {**lease, "metadata": {"name": "b"}, "spec": {"leaseDurationSeconds": -1}})
    assert invalid["code"] == 422
    await ask("DELETE", f"{_CRDS}/{plural}.coordination.k8s.io")
    await cluster.clock.advance(10)
    assert (await ask("GET", f"{_CRDS}/{plural}.coordination.k8s.io"))["code"] == 404
    assert (await ask("GET", f"{_LEASES}/a"))["spec"]["holderIdentity"] == "x"
