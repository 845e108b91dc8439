"""Metrics in Prometheus' text format, in one registry per process.

Names follow Kubernetes' where it has the metric (`apiserver_request_total`, `workqueue_depth` …), `setpoint_…` otherwise.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry(auto_describe=True)
LATENCY_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
    return Counter(name, text, labels, registry=REGISTRY)


def gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Gauge:
    return Gauge(name, text, labels, registry=REGISTRY)


def histogram(name: str, text: str, labels: tuple[str, ...] = (), buckets: tuple[float, ...] = LATENCY_BUCKETS) -> Histogram:
    return Histogram(name, text, labels, registry=REGISTRY, buckets=buckets)


def exposition() -> bytes:
    """All metrics, as `GET /metrics` answers them."""
    return generate_latest(REGISTRY)
