"""The table: complete, free of contradictions, and quick to import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from setpoint.registry.table import GROUPS, RESOURCES

GOLDEN = Path(os.environ.get("GOLDEN", Path(__file__).parents[3] / "shared" / "golden"))


def test_names_are_unique() -> None:
    assert len({resource.group_resource for resource in RESOURCES}) == len(RESOURCES)
    assert len({(resource.group, resource.kind) for resource in RESOURCES}) == len(RESOURCES)


def test_groups_and_versions_agree() -> None:
    known = dict(GROUPS)
    for resource in RESOURCES:
        assert set(resource.versions) <= set(known[resource.group]), resource.group_resource
        assert set(resource.definitions) == set(resource.versions), resource.group_resource


def test_definitions_exist() -> None:
    from setpoint.api.machinery.schema import trees

    loaded = trees.load("1.36")
    for resource in RESOURCES:
        for definition in resource.definitions.values():
            assert loaded.tree(definition) is not None


def test_importing_loads_no_schema() -> None:
    unwanted = "m.startswith('setpoint.api.machinery.schema') or m == 'structlog'"
    code = f"import sys, setpoint.registry.table; print([m for m in sys.modules if {unwanted}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_discovery_says_the_same() -> None:
    file = GOLDEN / "read-discovery.golden.json"
    if not file.exists():
        pytest.skip("no recorded discovery at hand")
    seen = 0
    for steps in json.loads(file.read_text()).values():
        for step in steps:
            body = step.get("body")
            if isinstance(body, dict) and "resources" in body and body.get("groupVersion"):
                seen += _compare(body)
    assert seen > 20


def _compare(listed: dict[str, Any]) -> int:
    by_name = {(resource.group, resource.plural): resource for resource in RESOURCES}
    group, _, version = str(listed["groupVersion"]).rpartition("/")
    rows = [row for row in listed["resources"] if "/" not in row["name"]]
    for row in rows:
        resource = by_name.get((group, row["name"]))
        if resource is None or version not in resource.versions:
            continue
        mine = (resource.kind, resource.singular, resource.namespaced, sorted(resource.verbs), list(resource.short_names))
        theirs = (row["kind"], row["singularName"], row["namespaced"], sorted(row["verbs"]), row.get("shortNames", []))
        assert mine == theirs
    return len(rows)
