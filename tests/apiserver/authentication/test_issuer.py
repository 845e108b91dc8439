"""The issuer's pages: whoever reads them can verify a token of ours without asking."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.authentication.service_accounts import ServiceAccountTokens
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.handlers.issuer import CONFIGURATION, KEYS, IssuerPages
from setpoint.apiserver.request import Request
from setpoint.kit.clock import VirtualClock

ACCOUNT = {"metadata": {"name": "builder", "namespace": "ns1", "uid": "u-1"}}


class Nobody:
    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return ACCOUNT if group_resource == "serviceaccounts" else None


@pytest.fixture
def tokens(tmp_path: Path) -> ServiceAccountTokens:
    return ServiceAccountTokens(SigningKey(tmp_path), Nobody(), VirtualClock())


async def test_a_stranger_verifies_a_token_by_the_published_key(tokens: ServiceAccountTokens) -> None:
    pages = IssuerPages(tokens, lambda: "10.0.0.1:6443")
    document = orjson.loads((await pages.configuration(Request("GET", CONFIGURATION))).body or b"")
    assert document["jwks_uri"] == "https://10.0.0.1:6443/openid/v1/jwks"
    [algorithm] = document["id_token_signing_alg_values_supported"]
    response = await pages.keys(Request("GET", KEYS))
    assert response.headers["Content-Type"] == "application/jwk-set+json"
    [published] = orjson.loads(response.body or b"")["keys"]
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=["vault"], seconds=600)
    assert jwt.get_unverified_header(token)["kid"] == published["kid"]
    claims = jwt.decode(
        token,
        jwt.PyJWK(published).key,
        algorithms=[algorithm],
        audience="vault",
        issuer=document["issuer"],
        options={"verify_exp": False, "verify_nbf": False, "verify_iat": False},
    )
    assert (algorithm, claims["sub"]) == ("RS256", "system:serviceaccount:ns1:builder")


async def test_the_keys_are_no_plain_json(tokens: ServiceAccountTokens) -> None:
    pages = IssuerPages(tokens, lambda: "h:1")
    with pytest.raises(StatusError) as refusal:
        await pages.keys(Request("GET", KEYS, headers={"accept": "application/json"}))
    assert refusal.value.message == "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json"
    with pytest.raises(StatusError) as refusal:
        await pages.configuration(Request("POST", CONFIGURATION))
    assert refusal.value.code == 405
    assert (await pages.keys(Request("GET", f"{KEYS}/x"))).status == 404


async def test_a_key_is_kept_and_one_on_a_curve_serves_too(tmp_path: Path) -> None:
    first = SigningKey(tmp_path / "a").id
    assert SigningKey(tmp_path / "a").id == first
    curve = tmp_path / "b"
    curve.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    (curve / "sa.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    tokens = ServiceAccountTokens(SigningKey(curve), Nobody(), VirtualClock())
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[tokens.issuer], seconds=600)
    assert await tokens.user_of(token) is not None
    [published] = tokens.key.published()["keys"]
    assert (published["kty"], published["alg"], published["crv"]) == ("EC", "ES256", "P-256")
