from __future__ import annotations

from typing import Any

import msgspec
import pytest

from setpoint.api.types import core_v1, meta_v1
from setpoint.controllers.template_hash.hashing import fnv32a, safe_encode, template_hash
from setpoint.controllers.template_hash.layout import STRUCTS, Field, fields_of
from setpoint.controllers.template_hash.printing import printed
from setpoint.testing.objects import template

EXACT = "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}"


def test_fnv32a_is_the_published_function() -> None:
    assert fnv32a(b"") == 0x811C9DC5
    assert fnv32a(b"a") == 0xE40C292C
    assert fnv32a(b"foobar") == 0xBF9CF968


def test_safe_words() -> None:
    assert safe_encode("0123456789") == "456789bcdf"


def test_the_hash_depends_on_the_template_and_the_collision_count_alone() -> None:
    one = msgspec.convert(template({"a": "1", "b": "2"}), core_v1.PodTemplateSpec)
    same = msgspec.convert(template({"b": "2", "a": "1"}), core_v1.PodTemplateSpec)
    other = msgspec.convert(template({"a": "1", "b": "3"}), core_v1.PodTemplateSpec)
    words = [template_hash(one), template_hash(same), template_hash(other), template_hash(one, 1), template_hash(one, 2)]
    assert words[0] == words[1]
    assert len(set(words)) == 4


@pytest.mark.parametrize(("version", "word"), [("1", "876bcd94b"), ("2", "59dd5f8cff")])
def test_the_hash_is_kubernetes_own(version: str, word: str) -> None:
    """Recorded from a Kubernetes 1.36."""
    container = {
        "name": "c",
        "image": "i",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    body = {
        "metadata": {"labels": {"app": "a", "v": version}, "annotations": {"note": "x"}},
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [container],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always",
            "schedulerName": "none",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        },
    }
    assert template_hash(msgspec.convert(body, core_v1.PodTemplateSpec)) == word


EMBEDDED = {"v1.VolumeSource", "v1.ProbeHandler"}
"""Have no schema of their own; they are looked at as parts of others."""


@pytest.mark.parametrize("name", sorted(STRUCTS.keys() - EMBEDDED))
def test_the_table_has_every_field(name: str) -> None:
    word = name.removeprefix("v1.")
    struct = getattr(core_v1, word, None) or getattr(meta_v1, word)
    known = {field.json for field in flattened(name)} - {"managedFields"}  # which the Structs leave out
    assert known == {field.encode_name for field in msgspec.structs.fields(struct)} - {"managedFields"}


def flattened(name: str) -> list[Field]:
    found: list[Field] = []
    for field in fields_of(name):
        found += flattened(field.type) if field.inline else [field]
    return found


_AMOUNT = "i:(resource.int64Amount){value:(int64)%d scale:(resource.Scale)%d}"
CPU = f"{{{_AMOUNT % (100, -3)} {EXACT} s:(string)100m Format:(resource.Format)DecimalSI}}"
MEMORY = f"{{{_AMOUNT % (67108864, 0)} {EXACT} s:(string)64Mi Format:(resource.Format)BinarySI}}"


@pytest.mark.parametrize(
    ("value", "go_type", "text"),
    [
        (None, "*int64", "(*int64)<nil>"),
        (0, "*int64", "(*int64)0"),
        (["a", "b"], "[]string", "([]string)[a b]"),
        ({"b": "2", "a": "1"}, "map[string]string", "(map[string]string)map[a:1 b:2]"),
        (8080, "intstr.IntOrString", "(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)8080 StrVal:(string)}"),
        ("http", "intstr.IntOrString", "(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)http}"),
        ({"cpu": "100m"}, "v1.ResourceList", f"(v1.ResourceList)map[cpu:{CPU}]"),
        ("64Mi", "resource.Quantity", f"(resource.Quantity){MEMORY}"),
    ],
)
def test_go_prints(value: Any, go_type: str, text: str) -> None:
    assert printed(value, go_type) == text
