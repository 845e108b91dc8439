from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery import protobuf
from setpoint.api.machinery.protobuf_wire import ProtobufError
from setpoint.api.machinery.schema import trees

CONFIG_MAP = trees.load("1.36").tree("io.k8s.api.core.v1.ConfigMap")
POD = trees.load("1.36").tree("io.k8s.api.core.v1.Pod")
LEASE = trees.load("1.36").tree("io.k8s.api.coordination.v1.Lease")

# what `kubectl create configmap a --from-literal=x=1` sends
FROM_KUBECTL = bytes.fromhex(
    "6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016112001a0022002a0032003800420012060a01781201311a002200"
)


def varint(number: int) -> bytes:
    out = b""
    while True:
        number, low = number >> 7, number & 0x7F
        out += bytes([low | (0x80 if number else 0)])
        if not number:
            return out


def field(number: int, value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value & 0xFFFFFFFFFFFFFFFF)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def body(kind: str, message: bytes, api_version: str = "v1") -> bytes:
    return protobuf.MAGIC + field(1, field(1, api_version) + field(2, kind)) + field(2, message)


def test_a_config_map_from_kubectl() -> None:
    found = protobuf.decode(FROM_KUBECTL, CONFIG_MAP)
    assert (found["kind"], found["apiVersion"]) == ("ConfigMap", "v1")
    assert found["metadata"]["name"] == "a"
    assert found["metadata"]["creationTimestamp"] is None
    assert found["data"] == {"x": "1"}


def test_embedded_structs_stand_beside_the_other_fields() -> None:
    volume = field(1, "v") + field(2, field(19, field(1, field(1, "cm")) + field(3, 420)))
    found = protobuf.decode(body("Pod", field(2, field(1, volume))), POD)
    assert found["spec"]["volumes"] == [{"name": "v", "configMap": {"name": "cm", "defaultMode": 420}}]


def test_quantities_int_or_string_and_maps_of_them() -> None:
    limits = field(1, field(1, "cpu") + field(2, field(1, "500m")))
    probe = field(1, field(2, field(2, field(1, 0) + field(2, 80))))
    named = field(1, field(2, field(2, field(1, 1) + field(3, "http"))))
    container = field(1, "c") + field(8, limits) + field(10, probe) + field(11, named)
    found = protobuf.decode(body("Pod", field(2, field(2, container))), POD)["spec"]["containers"][0]
    assert found["resources"]["limits"] == {"cpu": "500m"}
    assert found["livenessProbe"]["httpGet"]["port"] == 80
    assert found["readinessProbe"]["httpGet"]["port"] == "http"


def test_negative_numbers_booleans_and_times() -> None:
    spec = field(4, -1) + field(11, 1)
    meta = field(1, "p") + field(9, field(1, 1_700_000_000))
    found = protobuf.decode(body("Pod", field(1, meta) + field(2, spec)), POD)
    assert found["spec"]["terminationGracePeriodSeconds"] == -1
    assert found["spec"]["hostNetwork"] is True
    assert found["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:20Z"


def test_micro_times_have_six_digits() -> None:
    message = field(2, field(4, field(1, 1_700_000_000) + field(2, 5_000)))
    found = protobuf.decode(body("Lease", message, "coordination.k8s.io/v1"), LEASE)
    assert found["spec"]["renewTime"] == "2023-11-14T22:13:20.000005Z"


def test_unknown_fields_are_skipped() -> None:
    extra = field(99, "x") + varint(98 << 3 | 1) + struct.pack("<d", 1.5) + varint(97 << 3 | 5) + struct.pack("<f", 1.5)
    assert "data" not in protobuf.decode(body("ConfigMap", extra), CONFIG_MAP)


@pytest.mark.parametrize("data", [b"", b"{}", protobuf.MAGIC[:3], FROM_KUBECTL[:-1], FROM_KUBECTL[:30]])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ProtobufError):
        protobuf.decode(data, CONFIG_MAP)


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_decode_or_be_refused(data: bytes) -> None:
    with contextlib.suppress(ProtobufError):
        protobuf.decode(body("Pod", data), POD)


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=5))
def test_maps_round_trip(data: dict[str, str]) -> None:
    message = b"".join(field(2, field(1, key) + field(2, value)) for key, value in data.items())
    assert protobuf.decode(body("ConfigMap", message), CONFIG_MAP).get("data", {}) == data


def test_an_envelope_that_is_no_text_is_no_object() -> None:
    body = protobuf.MAGIC + b"\x0a\x08\x0a\x02v1\x12\x02\xff\xfe" + b"\x12\x00"
    assert protobuf.envelope(body).kind == "\ufffd\ufffd"
