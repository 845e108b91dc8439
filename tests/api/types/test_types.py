"""The generated Structs against what a real server answers."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import apps_v1, base, core_v1, meta_v1

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = Path(os.environ.get("GOLDEN", ROOT.parent / "shared" / "golden"))


def recorded(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with a kind anywhere in a recording."""
    if isinstance(value, dict):
        if "kind" in value and "apiVersion" in value:
            yield value
        for item in value.values():
            yield from recorded(item)
    elif isinstance(value, list):
        for item in value:
            yield from recorded(item)


def resources() -> dict[tuple[str, str], Resource[Any]]:
    modules = [path.stem for path in (ROOT / "src/setpoint/api/types").glob("*_v*.py")]
    found = [vars(importlib.import_module(f"setpoint.api.types.{module}")).values() for module in modules]
    return {(value.api_version, value.kind): value for values in found for value in values if isinstance(value, Resource)}


def test_every_recorded_object_of_a_served_kind_decodes() -> None:
    if not GOLDEN.exists():
        pytest.skip("no golden files on this machine")
    types = {key: resource.type for key, resource in resources().items()}
    count = 0
    for path in sorted(GOLDEN.glob("*.golden.json")):
        for obj in recorded(json.loads(path.read_text(encoding="utf-8"))):
            if (key := (str(obj["apiVersion"]), str(obj["kind"]))) in types:
                base.decode(json.dumps(obj).encode(), types[key])
                count += 1
    assert count > 1000


def test_a_pod_reads_as_the_design_says() -> None:
    pod = base.decode(
        b"""{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"b"}},"unknown":1,
        "spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}],"nodeName":"n"},
        "status":{"podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True","lastProbeTime":null}]}}""",
        core_v1.Pod,
    )
    assert pod.spec.node_name == "n"
    assert pod.spec.containers[0].ports[0].container_port == 80
    assert pod.spec.containers[0].resources.limits == {"cpu": "1"}
    assert pod.spec.priority is None
    assert pod.spec.host_network is False
    assert pod.status.pod_ip == "10.0.0.1"
    assert pod.status.conditions[0].last_probe_time == ""
    assert pod.metadata.labels == {"a": "b"}
    with pytest.raises(AttributeError):
        pod.spec.node_name = "m"  # type: ignore[misc]  # it is frozen, which is tested


def test_nulls_anywhere_are_absence() -> None:
    deployment = base.decode(
        b'{"metadata":null,"spec":{"replicas":null,"template":{"spec":{"containers":null}}}}', apps_v1.Deployment
    )
    assert deployment.spec.replicas is None
    assert deployment.spec.template.spec.containers == ()
    assert base.convert({"metadata": {"name": None}}, core_v1.Pod).metadata.name == ""


def test_wrong_types_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        base.decode(b'{"metadata":{"name":{}}}', core_v1.Pod)


def test_resources_and_metadata_only_kinds() -> None:
    assert core_v1.PODS.path("ns", "p", "status") == "/api/v1/namespaces/ns/pods/p/status"
    assert apps_v1.DEPLOYMENTS.group_resource == "deployments.apps"
    item = base.decode(b'{"metadata":{"name":"x"},"spec":{}}', meta_v1.PartialObjectMetadata)
    assert item.metadata.name == "x"


def test_committed_types_are_what_the_generator_writes() -> None:
    script = (
        "import sys; sys.path.insert(0, 'scripts'); import generate_types as g; from setpoint.api.machinery.schema import trees\n"
    )
    script += "p = trees.load(g.MINOR); m = g.modules(p)\n"
    script += "for n in ('apps_v1', 'meta_v1'):\n sys.stdout.write(g.formatted(g.text_of(p, n, m[n])))"
    made = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert made == "".join(
        (ROOT / f"src/setpoint/api/types/{name}.py").read_text(encoding="utf-8") for name in ("apps_v1", "meta_v1")
    )
