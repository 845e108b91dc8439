from __future__ import annotations

import pytest

from setpoint.api.machinery.integers import int64, parse


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("12", 12),
        ("+07", 7),
        ("-1", -1),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("9" * 5000, None),
        ("1_0", None),
        (" 7", None),
        ("\u0663", None),
        ("", None),
    ],
    ids=range(10),
)
def test_as_go_reads_them(text: str, wanted: int | None) -> None:
    assert int64(text) == wanted


@pytest.mark.parametrize(("text", "why"), [("", "invalid syntax"), ('1"', "invalid syntax"), (str(2**63), "value out of range")])
def test_what_go_says_of_others(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        parse(text)
    quoted = text.replace('"', '\\"')
    assert str(raised.value) == f'strconv.ParseInt: parsing "{quoted}": {why}'
