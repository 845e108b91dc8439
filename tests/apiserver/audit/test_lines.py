from __future__ import annotations

import orjson
import pytest
from tests.apiserver.audit.events import event

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.lines import lines, source_addresses
from setpoint.kit.clock import parse_rfc3339


@pytest.mark.parametrize(
    ("forwarded", "real", "expected"),
    [
        ("", "", ["192.0.2.7"]),
        ("198.51.100.1, junk,192.0.2.7", "", ["198.51.100.1", "192.0.2.7"]),
        ("198.51.100.1", "198.51.100.2", ["198.51.100.1", "198.51.100.2", "192.0.2.7"]),
        ("", "192.0.2.7", ["192.0.2.7"]),
    ],
)
def test_addresses(forwarded: str, real: str, expected: list[str]) -> None:
    assert source_addresses("192.0.2.7", forwarded, real) == expected


def test_what_is_remembered_of_one_request_is_not_told_of_another() -> None:
    reference = {"resource": "pods", "namespace": "d", "version": "v1"}
    given = [
        event(uri="/a", **reference),
        event(uri="/a", **reference, name="p"),
        event(uri="/a", **reference, named={"name": "q", "namespace": "other"}),
        event(uri="/a", user=UserInfo("ann", extra={"scopes": ("x",)}), forwarded="198.51.100.1"),
        event(uri="/a", user=None, agent="x" * 2000, decision="forbid", reason="no", annotations={"noted": "this"}),
    ]
    found = [orjson.loads(line) for line in b"".join(lines(given)).splitlines()]
    pods = {"resource": "pods", "namespace": "d", "apiVersion": "v1"}
    assert [each.get("objectRef") for each in found] == [pods, pods | {"name": "p"}, pods | {"name": "q"}, None, None]
    assert [each["user"] for each in found[2:]] == [{"username": "ann"}, {"username": "ann", "extra": {"scopes": ["x"]}}, {}]
    assert found[3]["sourceIPs"] == ["198.51.100.1", "192.0.2.7"]
    assert found[4]["userAgent"] == "x" * 1024 + "...TRUNCATED"
    assert found[4]["annotations"] == {
        "noted": "this",
        "authorization.k8s.io/decision": "forbid",
        "authorization.k8s.io/reason": "no",
    }


@pytest.mark.parametrize("moment", [0.0, 1764547200.123456, 1764547199.999999, 1764547200.1])
def test_moments_have_microseconds(moment: float) -> None:
    [line] = b"".join(lines([event(at=moment)])).splitlines()
    told = orjson.loads(line)["stageTimestamp"]
    assert len(told) == len("1970-01-01T00:00:00.000000Z")
    assert abs(parse_rfc3339(told) - moment) < 2e-6
