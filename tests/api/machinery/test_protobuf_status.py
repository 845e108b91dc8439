"""A refusal as protobuf, byte by byte as a Go client reads it."""

from __future__ import annotations

from setpoint.api.machinery import protobuf, protobuf_status
from setpoint.api.machinery.status import invalid, invalid_object, not_acceptable


def test_the_bytes_are_those_of_kubernetes() -> None:
    message = "m" * 116
    text = protobuf_status.encode(not_acceptable(message).status())
    start = b"k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12\x99\x01\n\x06\n\x00\x12\x00\x1a\x00\x12\x07Failure\x1at"
    assert text == start + message.encode() + b'"\rNotAcceptable0\x96\x03\x1a\x00"\x00'


def test_details_and_causes_are_told() -> None:
    error = invalid_object("demo.test", "Widget", "a", [invalid("spec.n", 1, "is odd")])
    found = protobuf.envelope(protobuf_status.encode(error.status()))
    assert (found.api_version, found.kind) == ("v1", "Status")
    for word in (b"demo.test", b"Widget", b"FieldValueInvalid", b"spec.n"):
        assert word in found.raw
