"""Approval annotations: a page, and what is none."""

from __future__ import annotations

import pytest

from setpoint.registry.apiextensions.approval import is_url


@pytest.mark.parametrize(
    ("word", "expected"),
    [("https://example.com/pull/1", True), ("https://[bad", False), ("example.com", False), ("", False)],
)
def test_is_url(word: str, expected: bool) -> None:
    assert is_url(word) is expected
