from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver.authentication import Authentication
from setpoint.apiserver.authentication.certificates import peer_of
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.apiserver.authentication.service_accounts import ISSUER, Bound, ServiceAccountTokens
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.authentication.static_tokens import StaticTokens
from setpoint.kit.clock import VirtualClock, rfc3339


class Objects:
    def __init__(self) -> None:
        self.held: dict[tuple[str, str, str], dict[str, Any]] = {}

    async def find(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self.held.get((group_resource, namespace, name))


ACCOUNT = {"metadata": {"name": "builder", "namespace": "ns1", "uid": "u-sa"}}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def objects() -> Objects:
    objects = Objects()
    objects.held["serviceaccounts", "ns1", "builder"] = ACCOUNT
    return objects


@pytest.fixture
def tokens(tmp_path: Path, objects: Objects, clock: VirtualClock) -> ServiceAccountTokens:
    return ServiceAccountTokens(SigningKey(tmp_path), objects, clock)


async def test_no_credential_is_the_anonymous_user() -> None:
    assert await Authentication([]).authenticate("/", {}, None) == ANONYMOUS


async def test_a_token_nobody_knows_is_401() -> None:
    with pytest.raises(StatusError) as refusal:
        await Authentication([StaticTokens({})]).authenticate("/", {"authorization": "Bearer nope"}, None)
    assert refusal.value.code == 401


@pytest.mark.parametrize("token", ["\udcff.x.y", "x" * 100_000, "a" * 50_000 + ".b.c"])
async def test_a_token_that_nobody_can_have_issued_is_401(token: str, tokens: ServiceAccountTokens) -> None:
    with pytest.raises(StatusError) as refusal:
        await Authentication([StaticTokens({}), tokens]).authenticate("/", {"authorization": f"Bearer {token}"}, None)
    assert refusal.value.code == 401


async def test_tokens_of_others_are_not_remembered(tokens: ServiceAccountTokens) -> None:
    for number in range(10):
        assert await tokens.user_of(f"a.b.{number}") is None
    assert tokens._verified.cache_info().currsize == 0


async def test_every_proven_user_is_in_system_authenticated(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('t1,alice,1,"dev,ops"\n\nt2,bob,2\n')
    authentication = Authentication([StaticTokens.read(file)])
    alice = await authentication.authenticate("/", {"authorization": "bearer t1"}, None)
    assert (alice.name, alice.groups) == ("alice", ("dev", "ops", "system:authenticated"))
    assert (await authentication.authenticate("/", {"authorization": "Bearer t2"}, None)).groups == ("system:authenticated",)


async def test_a_certificate_goes_before_a_token() -> None:
    peer = peer_of({"subject": ((("organizationName", "system:masters"),), (("commonName", "root"),))}, b"der")
    found = await Authentication([StaticTokens({"t": UserInfo("other")})]).authenticate("/", {"authorization": "Bearer t"}, peer)
    assert (found.name, found.groups) == ("root", ("system:masters", "system:authenticated"))
    assert peer_of({}, b"").user is None
    assert peer_of({"subject": ((("organizationName", "x"),),)}, b"").user is None


@pytest.mark.parametrize("text", ["onlytoken\n", "t,,1\n", ",user,1\n"])
def test_a_bad_token_file_names_the_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"tokens\.csv:1"):
        StaticTokens.read(file)


async def void(tokens: ServiceAccountTokens, token: str) -> str:
    """Why a token of ours is not good any more."""
    with pytest.raises(Rejected) as reason:
        await tokens.user_of(token)
    assert token not in str(reason.value)
    return str(reason.value)


async def test_a_service_account_token_is_its_account(tokens: ServiceAccountTokens) -> None:
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600)
    user = await tokens.user_of(token)
    assert user is not None
    assert user.name == "system:serviceaccount:ns1:builder"
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns1", "system:authenticated")
    assert user.uid == "u-sa"


async def test_a_service_account_token_expires(tokens: ServiceAccountTokens, clock: VirtualClock) -> None:
    token, expires = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600)
    assert expires == int(clock.now()) + 600
    clock.jump(659)  # clocks may differ by a minute
    assert await tokens.user_of(token) is not None
    clock.jump(2)
    assert await void(tokens, token)


async def test_a_token_for_another_audience_is_not_for_us(tokens: ServiceAccountTokens) -> None:
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=["vault"], seconds=600)
    assert await void(tokens, token)


async def test_a_token_ends_with_its_account_and_with_an_account_of_the_same_name(
    tokens: ServiceAccountTokens, objects: Objects
) -> None:
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600)
    objects.held["serviceaccounts", "ns1", "builder"] = {"metadata": {"name": "builder", "uid": "u-new"}}
    assert await void(tokens, token)
    objects.held.clear()
    assert await void(tokens, token)


async def test_b43_a_bound_token_ends_with_its_pod(tokens: ServiceAccountTokens, objects: Objects, clock: VirtualClock) -> None:
    pod: dict[str, Any] = {"metadata": {"name": "p", "uid": "u-pod"}}
    objects.held["pods", "ns1", "p"] = pod
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=3600, bound=[Bound("Pod", "p", "u-pod")])
    assert await tokens.user_of(token) is not None
    pod["metadata"]["deletionTimestamp"] = rfc3339(clock.now() + 30)
    assert await tokens.user_of(token) is not None
    clock.jump(30 + 70)
    assert await void(tokens, token)
    del pod["metadata"]["deletionTimestamp"]
    pod["metadata"]["uid"] = "u-pod-2"
    assert await void(tokens, token)


async def test_a_token_bound_to_a_node_ends_with_it(tokens: ServiceAccountTokens, objects: Objects) -> None:
    objects.held["nodes", "", "n"] = {"metadata": {"name": "n", "uid": "u-node"}}
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=3600, bound=[Bound("Node", "n", "u-node")])
    assert await tokens.user_of(token) is not None
    del objects.held["nodes", "", "n"]
    assert await void(tokens, token)


async def test_forged_tokens_are_refused(tokens: ServiceAccountTokens) -> None:
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600)
    claims = jwt.decode(token, options={"verify_signature": False})
    other = ec.generate_private_key(ec.SECP256R1())
    assert await tokens.user_of(jwt.encode(claims, other, algorithm="ES256")) is None
    assert await tokens.user_of(jwt.encode(claims, "", algorithm="none")) is None
    assert await tokens.user_of("a.b.c") is None
