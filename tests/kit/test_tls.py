"""TLS, as strict as it can be."""

from __future__ import annotations

import ssl

import pytest

from setpoint.apiserver.aggregation.backend import _trust
from setpoint.apiserver.webhooks.client import trust_of
from setpoint.client.kubeconfig import Access
from setpoint.client.transports.http import ssl_context
from setpoint.kit import tls


def contexts() -> list[ssl.SSLContext]:
    return [
        tls.harden(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)),
        tls.harden(ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)),
        trust_of(""),
        _trust("", False, None),
        ssl_context(Access("https://127.0.0.1")),
    ]


@pytest.mark.parametrize("context", contexts())
def test_nothing_older_than_1_2_and_no_weak_suite(context: ssl.SSLContext) -> None:
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    names = " ".join(suite["name"] for suite in context.get_ciphers())
    for weak in ("RC4", "3DES", "NULL", "EXPORT", "MD5", "anon"):
        assert weak not in names


def test_our_ports_offer_forward_secrecy_and_authenticated_encryption_only() -> None:
    context = tls.harden(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    for suite in context.get_ciphers():
        assert suite["aead"]
        assert suite["protocol"] == "TLSv1.3" or suite["name"].startswith("ECDHE")
