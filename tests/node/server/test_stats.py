"""What a node and its pods use, for Prometheus."""

from __future__ import annotations

from typing import Any

from setpoint.node.server.stats import exposition


def used(nanos: int, size: int) -> dict[str, Any]:
    return {"cpu": {"usageCoreNanoSeconds": nanos}, "memory": {"workingSetBytes": size}}


def test_exposition() -> None:
    containers = [{"name": "c", **used(500_000_000, 7)}, {"name": "d", **used(1_000_000_000, 8)}]
    pod = {"podRef": {"namespace": "n", "name": "p"}, "containers": containers}
    lines = exposition({"node": used(2_500_000_000, 99), "pods": [pod]}, 1234).splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        'container_cpu_usage_seconds_total{container="c",namespace="n",pod="p"} 0.5 1234',
        'container_cpu_usage_seconds_total{container="d",namespace="n",pod="p"} 1.0 1234',
        'container_memory_working_set_bytes{container="c",namespace="n",pod="p"} 7 1234',
        'container_memory_working_set_bytes{container="d",namespace="n",pod="p"} 8 1234',
        "node_cpu_usage_seconds_total 2.5 1234",
        "node_memory_working_set_bytes 99 1234",
        'pod_cpu_usage_seconds_total{namespace="n",pod="p"} 1.5 1234',
        'pod_memory_working_set_bytes{namespace="n",pod="p"} 15 1234',
        "resource_scrape_error 0",
    ]
    assert "# TYPE pod_cpu_usage_seconds_total counter" in lines
