from __future__ import annotations

import msgspec

from setpoint.api.types import core_v1
from setpoint.controllers.deployment.hashing import fnv32a, safe_encode, template_hash
from setpoint.testing.objects import template


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
