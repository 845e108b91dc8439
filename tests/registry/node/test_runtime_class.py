"""RuntimeClasses: rules that the recordings do not reach."""

from __future__ import annotations

import pytest
from tests.registry.builders import complaints

from setpoint.registry.node.runtime_class import RuntimeClassStrategy


@pytest.mark.parametrize(
    ("overhead", "expected"),
    [
        ({"cpu": "1m"}, []),
        ({"cpu": "1m", "hugepages-2Mi": "4Mi"}, []),
        ({"hugepages-2Mi": "2Mi"}, ["overhead: Forbidden: HugePages require cpu or memory"]),
        (
            {"memory": "1Mi", "hugepages-2Mi": "1"},
            ['overhead.limits[hugepages-2Mi]: Invalid value: "1": 1 is not positive integer multiple of hugepages-2Mi'],
        ),
    ],
)
def test_overhead_is_asked_for_as_by_a_container(overhead: dict[str, str], expected: list[str]) -> None:
    runtime = {"metadata": {"name": "r"}, "handler": "h", "overhead": {"podFixed": overhead}}
    assert complaints(RuntimeClassStrategy(), runtime) == expected
