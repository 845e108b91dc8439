"""Metrics in Prometheus' text format, in one registry per process.

Names follow Kubernetes' where it has the metric (`apiserver_request_total`, `workqueue_depth` …), `setpoint_…` otherwise.
Counting happens on the event loop alone and needs no locks, which are what counting with prometheus_client mostly costs. That
library writes the text; it is imported when somebody asks for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from prometheus_client.core import Metric

#: upper limits in seconds
LATENCY_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Counter:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        self.value += amount


class Gauge(Counter):
    """A number that goes up and down, or that a function tells when it is asked for."""

    __slots__ = ("_ask",)

    def __init__(self) -> None:
        super().__init__()
        self._ask: Callable[[], float] | None = None

    def dec(self, amount: float = 1.0) -> None:
        self.value -= amount

    def set(self, value: float) -> None:
        self.value = value

    def set_function(self, ask: Callable[[], float]) -> None:
        self._ask = ask

    def now(self) -> float:
        return self.value if self._ask is None else float(self._ask())


class Histogram:
    """How many observations fell below each of some limits, and their sum."""

    __slots__ = ("_counts", "_limits", "sum")

    def __init__(self, limits: tuple[float, ...]) -> None:
        self._limits = limits
        self._counts = [0] * (len(limits) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._limits, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, float]]:
        names = [*map(str, self._limits), "+Inf"]
        return [*zip(names, map(float, accumulate(self._counts)), strict=True)]


T = TypeVar("T", Counter, Gauge, Histogram)


class Family(Generic[T]):
    """A metric: its children by their labels' values."""

    def __init__(self, kind: str, name: str, text: str, labels: tuple[str, ...], make: Callable[[], T]) -> None:
        self.kind = kind
        self.name = name
        self.text = text
        self.label_names = labels
        self.children: dict[tuple[str, ...], T] = {}
        self._make: Callable[[], T] = make
        if not labels:
            self.labels()

    def labels(self, *values: str) -> T:
        """The child with these values, made when first asked for."""
        child = self.children.get(values)
        if child is None:
            if len(values) != len(self.label_names):
                raise ValueError(f"{self.name} has the labels {self.label_names}, not {values}")
            child = self.children[values] = self._make()
        return child


_counters: dict[str, Family[Counter]] = {}
_gauges: dict[str, Family[Gauge]] = {}
_histograms: dict[str, Family[Histogram]] = {}


def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Family[Counter]:
    """A counter; its name goes out with `_total`, unless it ends with `_count` as some of Kubernetes' do."""
    name = name.removesuffix("_total")
    return _counters.setdefault(name, Family("counter", name, text, labels, Counter))


def gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Family[Gauge]:
    return _gauges.setdefault(name, Family("gauge", name, text, labels, Gauge))


def histogram(
    name: str, text: str, labels: tuple[str, ...] = (), buckets: tuple[float, ...] = LATENCY_BUCKETS
) -> Family[Histogram]:
    """A histogram; `buckets` are upper limits in the metric's unit, ascending, without infinity."""
    return _histograms.setdefault(name, Family("histogram", name, text, labels, lambda: Histogram(buckets)))


def families() -> list[Family[Counter] | Family[Gauge] | Family[Histogram]]:
    """What has been declared so far; the children are what has been counted."""
    return [*_counters.values(), *_gauges.values(), *_histograms.values()]


def exposition() -> bytes:
    """All metrics, as `GET /metrics` answers them."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector())
    text = generate_latest(registry)
    for name in filter(_is_bare, _counters):  # the library heads every counter as if it ended with `_total`
        text = text.replace(f" {name}_total ".encode(), f" {name} ".encode(), 2)
    return text


def _is_bare(name: str) -> bool:
    return name.endswith("_count")


class _Collector:
    """What prometheus_client asks for the present values."""

    def collect(self) -> Iterator[Metric]:
        yield from map(_counter_family, _counters.values())
        yield from map(_gauge_family, _gauges.values())
        yield from map(_histogram_family, _histograms.values())


def _counter_family(counter: Family[Counter]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(counter.name, counter.text, labels=counter.label_names)
    suffix = "" if _is_bare(counter.name) else "_total"
    for values, child in counter.children.items():
        family.add_sample(counter.name + suffix, dict(zip(counter.label_names, values, strict=True)), child.value)
    return family


def _gauge_family(gauge: Family[Gauge]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(gauge.name, gauge.text, labels=gauge.label_names)
    for values, child in gauge.children.items():
        family.add_metric(values, child.now())
    return family


def _histogram_family(histogram: Family[Histogram]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(histogram.name, histogram.text, labels=histogram.label_names)
    for values, child in histogram.children.items():
        family.add_metric(values, child.buckets(), child.sum)
    return family
