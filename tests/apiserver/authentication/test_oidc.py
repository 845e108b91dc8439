from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.configuration import Issuer, parse
from setpoint.apiserver.authentication.oidc.authenticator import IssuerTokens
from setpoint.apiserver.authentication.oidc.claims import Mapped
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.kit.clock import VirtualClock

from .issuer import LocalIssuer


@pytest.fixture
async def issuer(tmp_path: Path) -> AsyncIterator[LocalIssuer]:
    made = LocalIssuer(tmp_path)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


class Rig:
    """Tokens of the issuer, and what the server makes of them."""

    def __init__(self, issuer: LocalIssuer, clock: VirtualClock, **jwt_fields: Any) -> None:
        self.issuer, self.clock = issuer, clock
        document = {
            "jwt": [
                {
                    "issuer": {"url": issuer.url, "audiences": ["setpoint"], "certificateAuthority": issuer.ca},
                    "claimMappings": {"username": {"claim": "sub", "prefix": "oidc:"}},
                    **jwt_fields,
                }
            ]
        }
        [configured] = parse(document, ("https://own",)).issuers
        self.tokens = IssuerTokens(configured, clock)

    async def user(self, **claims: Any) -> UserInfo | None:
        return await self.tokens.user_of(self.issuer.token(**self.good(**claims)))

    def good(self, **claims: Any) -> dict[str, Any]:
        return {"aud": "setpoint", "exp": self.clock.now() + 600, "sub": "jane", **claims}

    async def refused(self, **claims: Any) -> str:
        with pytest.raises(Rejected) as reason:
            await self.user(**claims)
        return str(reason.value)


async def test_claims_become_a_user(issuer: LocalIssuer, clock: VirtualClock) -> None:
    mappings = {
        "username": {"claim": "email", "prefix": ""},
        "groups": {"claim": "roles", "prefix": "oidc:"},
        "uid": {"claim": "sub"},
        "extra": [{"key": "example.com/tenant", "valueExpression": "claims.tenant"}],
    }
    rig = Rig(issuer, clock, claimMappings=mappings)
    user = await rig.user(email="j@x.org", email_verified=True, roles=["dev", "ops"], tenant="blue", jti="t1")
    assert user == UserInfo(
        "j@x.org",
        "jane",
        ("oidc:dev", "oidc:ops"),
        {"example.com/tenant": ("blue",), "authentication.kubernetes.io/credential-id": ("JTI=t1",)},
    )
    assert await rig.refused(email="j@x.org", email_verified=False, tenant="") == "oidc: email not verified"


async def test_expressions_become_a_user_and_are_checked(issuer: LocalIssuer, clock: VirtualClock) -> None:
    rig = Rig(
        issuer,
        clock,
        claimMappings={
            "username": {"expression": "claims.sub + ':' + claims.realm"},
            "groups": {"expression": "claims.roles.split(',')"},
            "uid": {"expression": "claims.sub"},
        },
        claimValidationRules=[
            {"claim": "hd", "requiredValue": "x.org"},
            {"expression": "claims.exp - claims.nbf <= 86400", "message": "must not live for more than a day"},
        ],
        userValidationRules=[{"expression": "!user.username.startsWith('system:')", "message": "must not be the system's"}],
    )
    nbf = clock.now()
    user = await rig.user(realm="a", roles="x,y", hd="x.org", nbf=nbf)
    assert user == UserInfo("jane:a", "jane", ("x", "y"), {})
    assert await rig.refused(realm="a", roles="x", nbf=nbf) == "oidc: required claim hd not present in ID token"
    assert "value does not match" in await rig.refused(realm="a", roles="x", hd="y", nbf=nbf)
    long = await rig.refused(realm="a", roles="x", hd="x.org", nbf=nbf, exp=nbf + 100_000)
    assert long.endswith("failed: must not live for more than a day")
    system = await rig.refused(realm="a", roles="x", hd="x.org", nbf=nbf, sub="system:admin")
    assert system.startswith("oidc: error validating user: ")
    assert system.endswith("must not be the system's")
    assert "no such key: realm" in await rig.refused(roles="x", hd="x.org", nbf=nbf)


async def test_tokens_that_do_not_hold(issuer: LocalIssuer, clock: VirtualClock) -> None:
    rig = Rig(issuer, clock)
    assert "expected audience" in await rig.refused(aud=["other"])
    assert "token is expired" in await rig.refused(exp=clock.now() - 1)
    assert "not before" in await rig.refused(nbf=clock.now() + 1000)
    assert await rig.refused(sub=7) == 'oidc: parse username claims "sub": claim is not a string'
    assert await rig.tokens.user_of(issuer.token(**rig.good(iss="https://other"))) is None
    assert await rig.tokens.user_of("no.to.ken") is None


async def test_forged_tokens(issuer: LocalIssuer, clock: VirtualClock) -> None:
    rig = Rig(issuer, clock)
    claims = {"iss": issuer.url, **rig.good()}
    public = issuer.keys["k1"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    other = ec.generate_private_key(ec.SECP256R1())

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    signed = f"{part({'alg': 'HS256', 'kid': 'k1'})}.{part(claims)}"  # by hand: the library refuses to make such a thing
    confused = (
        signed + "." + base64.urlsafe_b64encode(hmac.new(public, signed.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    )
    forged = [
        jwt.encode(claims, other, algorithm="ES256", headers={"kid": "k1"}),
        jwt.encode(claims, "", algorithm="none", headers={"kid": "k1"}),
        confused,
    ]
    for token in forged:
        with pytest.raises(Rejected):
            await rig.tokens.user_of(token)
    assert await rig.user() is not None


async def test_new_keys_are_found_and_strangers_do_not_make_the_server_ask_often(
    issuer: LocalIssuer, clock: VirtualClock
) -> None:
    rig = Rig(issuer, clock)
    assert await rig.user() is not None
    issuer.keys["k2"] = ec.generate_private_key(ec.SECP256R1())
    for _ in range(5):
        with pytest.raises(Rejected):
            await rig.tokens.user_of(issuer.token("k2", **rig.good()))
    assert len(issuer.asked) == 2
    clock.jump(11)
    assert await rig.tokens.user_of(issuer.token("k2", **rig.good())) is not None
    assert len(issuer.asked) == 4


async def test_an_issuer_that_says_it_is_another_has_no_keys(issuer: LocalIssuer, clock: VirtualClock) -> None:
    issuer.name = "https://somebody.else"
    assert "is not initialized" in await Rig(issuer, clock).refused()


async def test_a_server_that_the_ca_does_not_know_is_not_asked(issuer: LocalIssuer, clock: VirtualClock) -> None:
    tokens = IssuerTokens(Issuer(issuer.url, ("setpoint",), Mapped("sub")), clock)
    with pytest.raises(Rejected, match="is not initialized"):
        await tokens.user_of(issuer.token(aud="setpoint", sub="jane", exp=clock.now() + 600))
    assert issuer.asked == []


async def test_an_accepted_token_is_verified_once_and_ends_in_time(issuer: LocalIssuer, clock: VirtualClock) -> None:
    rig = Rig(issuer, clock)
    token = issuer.token(**rig.good(exp=clock.now() + 5))
    first = await rig.tokens.user_of(token)
    assert await rig.tokens.user_of(token) is first
    clock.jump(6)
    with pytest.raises(Rejected):
        await rig.tokens.user_of(token)
