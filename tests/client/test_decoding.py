"""What is decoded once, and what may not be."""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.types.core_v1 import CONFIGMAPS, ConfigMap
from setpoint.client import decoding


def body(name: str) -> bytes:
    return orjson.dumps({"metadata": {"name": name, "resourceVersion": "5"}, "data": {"a": name}})


def event(text: bytes) -> bytes:
    return b'{"type":"MODIFIED","object":%b}\n' % text


def test_the_answer_of_a_write_and_the_events_of_all_informers_are_one_object() -> None:
    decoder = decoding.of(CONFIGMAPS.type)
    answer = decoder.object(body("m"))
    seen = [obj for _ in range(2) for _, obj in decoder.events(event(body("m")))]
    assert all(obj is answer for obj in seen)
    assert answer.data == {"a": "m"}


def test_other_bytes_are_another_object() -> None:
    decoder: decoding.Decoders[ConfigMap] = decoding.Decoders(ConfigMap)
    assert decoder.object(body("m")) != decoder.object(body("n"))


def test_only_the_latest_are_kept() -> None:
    decoder: decoding.Decoders[ConfigMap] = decoding.Decoders(ConfigMap)
    first = decoder.object(body("first"))
    for number in range(1000):
        decoder.object(body(f"m-{number}"))
    again = decoder.object(body("first"))
    assert again == first
    assert again is not first


def test_what_can_be_changed_is_nobody_elses() -> None:
    decoder: decoding.Decoders[dict[str, Any]] = decoding.Decoders(dict)
    assert decoder.object(body("m")) is not decoder.object(body("m"))
