"""Continue tokens: what goes on where, and what is refused how."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver import continuation


def token(value: Any) -> str:
    raw = value if isinstance(value, bytes) else orjson.dumps(value)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def test_a_token_leads_to_where_it_was_made() -> None:
    made = continuation.encode("secrets/ns/a\0", "secrets/ns/", 7)
    assert continuation.decode(made, "secrets/ns/") == ("secrets/ns/a\0", 7)


def test_a_token_may_begin_with_a_slash() -> None:
    assert continuation.decode(token({"v": "meta.k8s.io/v1", "rv": 1, "start": "/ns/a"}), "secrets/") == ("secrets/ns/a", 1)


REFUSED: list[tuple[Any, str]] = [
    ({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
    ({"v": "meta.k8s.io/v1", "start": "a"}, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
    ({"v": "meta.k8s.io/v1", "rv": 5}, "encoded start key empty (version meta.k8s.io/v1)"),
    ({"v": "meta.k8s.io/v2", "rv": 5, "start": "a"}, "server does not recognize this encoded version meta.k8s.io/v2"),
    ({}, "server does not recognize this encoded version "),
    ({"v": "meta.k8s.io/v1", "rv": 5, "start": "../pods"}, "../pods"),
    ({"v": "meta.k8s.io/v1", "rv": 5, "start": "a//b"}, "a//b"),
    ({"v": "meta.k8s.io/v1", "rv": 5, "start": "a/"}, "a/"),
    (
        {"v": "meta.k8s.io/v1", "rv": "x", "start": "a"},
        "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
    ),
    ([], "json: cannot unmarshal array into Go value of type storage.continueToken"),
    (b"i\xb7", "invalid character 'i' looking for beginning of value"),
    (b'{"v":', "unexpected end of JSON input"),
]


@pytest.mark.parametrize(("value", "why"), REFUSED)
def test_what_is_no_token_of_ours_is_refused(value: Any, why: str) -> None:
    with pytest.raises(StatusError) as refusal:
        continuation.decode(token(value), "secrets/")
    assert (refusal.value.code, refusal.value.message) == (400, f"invalid continue token: continue key is not valid: {why}")


@pytest.mark.parametrize(("text", "position"), [("!!", 0), ("ab==", 2), ("a", 0), ("abcda", 4), ("ab c", 2), ("a\u00e9", 1)])
def test_what_is_no_base64_is_refused_where_it_ends(text: str, position: int) -> None:
    with pytest.raises(StatusError) as refusal:
        continuation.decode(text, "secrets/")
    assert refusal.value.message.endswith(f"illegal base64 data at input byte {position}")
