from __future__ import annotations

import pytest

from setpoint.kit import metrics


def lines() -> list[str]:
    return metrics.exposition().decode().splitlines()


def test_counters_gauges_and_histograms_as_prometheus_reads_them() -> None:
    requests = metrics.counter("test_requests_total", "How many.", ("verb",))
    requests.labels("GET").inc()
    requests.labels("GET").inc(2)
    metrics.gauge("test_depth", "How deep.").labels().set(3)
    metrics.gauge("test_asked", "How many now.").labels().set_function(lambda: 7)
    seconds = metrics.histogram("test_seconds", "How long.", buckets=(0.5, 1.0)).labels()
    for value in (0.1, 0.5, 0.7, 9):
        seconds.observe(value)
    found = lines()
    assert 'test_requests_total{verb="GET"} 3.0' in found
    assert "# TYPE test_requests_total counter" in found
    assert "test_depth 3.0" in found
    assert "test_asked 7.0" in found
    assert [line for line in found if line.startswith("test_seconds")] == [
        'test_seconds_bucket{le="0.5"} 2.0',
        'test_seconds_bucket{le="1.0"} 3.0',
        'test_seconds_bucket{le="+Inf"} 4.0',
        "test_seconds_count 4.0",
        "test_seconds_sum 10.3",
    ]


def test_labels_are_escaped_and_counted() -> None:
    family = metrics.counter("test_odd", "Odd.", ("name",))
    family.labels('a"b').inc()
    assert 'test_odd_total{name="a\\"b"} 1.0' in lines()
    with pytest.raises(ValueError, match="test_odd has the labels"):
        family.labels("a", "b")


def test_a_metric_that_is_made_twice_is_one() -> None:
    assert metrics.gauge("test_twice", "") is metrics.gauge("test_twice", "")


def test_a_counter_that_ends_with_count_keeps_its_name() -> None:
    metrics.counter("test_odd_count", "Odd ones.", ("name",)).labels("a").inc()
    assert [line for line in lines() if "test_odd_count" in line] == [
        "# HELP test_odd_count Odd ones.",
        "# TYPE test_odd_count counter",
        'test_odd_count{name="a"} 1.0',
    ]
