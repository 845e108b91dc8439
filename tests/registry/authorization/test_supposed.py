"""Selectors of access reviews: what of them counts, and what is said of the rest."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from setpoint.registry.authorization.supposed import MAX_TEXT, MAX_VALUES, supposed

IGNORED = "spec.resourceAttributes.{} ignored due to parse error"
PARTIALLY = "spec.resourceAttributes.{} partially ignored due to parse error"


def term(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "read", "said"),
    [
        (None, "", ""),
        ({"rawSelector": "a=b"}, "a=b", ""),
        ({"rawSelector": "a"}, "", IGNORED),
        ({"requirements": [term("a", "In", "b"), term("c", "NotIn", "d")]}, "a=b,c!=d", ""),
        ({"requirements": [term("a", "Exists")]}, "", IGNORED),
        ({"requirements": [term("a", "In", "b", "c"), term("a", "In", "b")]}, "a=b", PARTIALLY),
        ({"rawSelector": f"a={'b' * MAX_TEXT}"}, "", IGNORED),
    ],
    ids=itertools.count(),
)
def test_field_selectors(selector: Any, read: str, said: str) -> None:
    found = supposed({"fieldSelector": selector})
    assert (str(found.fields or ""), found.complaint) == (read, said.format("fieldSelector"))


@pytest.mark.parametrize(
    ("selector", "read", "said"),
    [
        ({"rawSelector": "a in (b)"}, "a in (b)", ""),
        ({"rawSelector": "a in ("}, "", IGNORED),
        ({"requirements": [term("a", "In", "b", "c"), term("d", "DoesNotExist")]}, "a in (b,c),!d", ""),
        ({"requirements": [term("a", "Gt", "1")]}, "", IGNORED),
        ({"requirements": [term("a", "Gt", "1"), term("b", "Exists")]}, "b", PARTIALLY),
        ({"rawSelector": f"a in ({',b' * MAX_TEXT})"}, "", IGNORED),
        ({"requirements": [term("b", "Exists"), term("a", "In", *("x" * MAX_VALUES)), term("c", "Exists")]}, "b", PARTIALLY),
    ],
    ids=itertools.count(),
)
def test_label_selectors(selector: Any, read: str, said: str) -> None:
    found = supposed({"labelSelector": selector})
    assert (str(found.labels or ""), found.complaint) == (read, said.format("labelSelector"))


def test_both_are_told() -> None:
    found = supposed({"labelSelector": {"rawSelector": "("}, "fieldSelector": {"rawSelector": "a"}})
    assert found.complaint == f"{IGNORED.format('fieldSelector')}; {IGNORED.format('labelSelector')}"
