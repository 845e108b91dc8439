from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Container, Volume
from setpoint.node.launching import TERMINATION_LIMIT, is_api_data, termination_message, termination_path


def test_of_a_long_termination_message_the_end_counts(tmp_path: Path) -> None:
    container = convert({"name": "c"}, Container)
    path = Path(termination_path(str(tmp_path), "c", 0))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * TERMINATION_LIMIT + b"the end")
    message = termination_message(str(tmp_path), container, 0, 1, "")
    assert len(message) == TERMINATION_LIMIT
    assert message.endswith("the end")


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"configMap": {"name": "c"}}, True),
        ({"secret": {"secretName": "s"}}, True),
        ({"projected": {"sources": []}}, True),
        ({"downwardAPI": {"items": []}}, True),
        ({"emptyDir": {}}, False),
        ({"hostPath": {"path": "/x"}}, False),
    ],
)
def test_what_shows_the_api_is_read_only(volume: dict[str, object], *, expected: bool) -> None:
    assert is_api_data(convert({"name": "v", **volume}, Volume)) is expected
