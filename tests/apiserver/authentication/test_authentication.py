from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver.authentication import Anonymous, Authentication
from setpoint.apiserver.authentication.certificates import peer_of
from setpoint.apiserver.authentication.legacy_tokens import LegacyClaims, sign
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.apiserver.authentication.service_accounts import ISSUER, Bound, ServiceAccountTokens
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.authentication.static_tokens import StaticTokens
from setpoint.kit.clock import VirtualClock, rfc3339


class Objects:
    def __init__(self) -> None:
        self.held: dict[tuple[str, str, str], dict[str, Any]] = {}

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
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


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return SigningKey(tmp_path_factory.mktemp("key"))


@pytest.fixture
def tokens(key: SigningKey, objects: Objects, clock: VirtualClock) -> ServiceAccountTokens:
    return ServiceAccountTokens(key, objects, clock)


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


async def test_a_bound_token_ends_with_its_pod(tokens: ServiceAccountTokens, objects: Objects, clock: VirtualClock) -> None:
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


async def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(tokens: ServiceAccountTokens) -> None:
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600)
    claims = token.split(".")[1]
    public = tokens.key.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for algorithm, digest in (("HS256", "sha256"), ("HS512", "sha512")):
        header = _part(b'{"alg":"%s","typ":"JWT","kid":"%s"}' % (algorithm.encode(), tokens.key.id.encode()))
        signed = f"{header}.{claims}"
        for key in (public, public.strip(), b""):
            forged = f"{signed}.{_part(hmac.new(key, signed.encode(), digest).digest())}"
            assert await tokens.user_of(forged) is None


@pytest.mark.parametrize(
    "claims", [{}, {"kubernetes.io": {}}, {"kubernetes.io": "x"}, {"kubernetes.io": {"namespace": "ns1"}}, {"aud": 7}]
)
async def test_a_signed_token_without_the_claims_of_an_account_is_nobodys(
    tokens: ServiceAccountTokens, claims: dict[str, Any]
) -> None:
    """Whatever else the key ever signs must not become an account."""
    token = jwt.encode({"iss": ISSUER, "exp": 4_000_000_000, **claims}, tokens.key.private, algorithm="RS256")
    assert await tokens.user_of(token) is None


async def test_a_token_of_a_secret_is_good_while_the_secret_holds_it(tokens: ServiceAccountTokens, objects: Objects) -> None:
    token = sign(tokens.key, LegacyClaims("ns1", "builder", "u-sa", "s"))
    assert await void(tokens, token) == "service account token has been invalidated"
    held = {"metadata": {"name": "s", "uid": "u-s"}, "data": {"token": base64.b64encode(token.encode()).decode()}}
    objects.held["secrets", "ns1", "s"] = held
    user = await tokens.user_of(token)
    assert user is not None
    assert (user.name, user.extra) == ("system:serviceaccount:ns1:builder", {})
    with pytest.raises(Rejected, match="invalid for the target audiences"):
        await tokens.user_for(token, ["vault"])
    objects.held["secrets", "ns1", "s"] = {**held, "data": {"token": "b3RoZXI="}}
    assert await void(tokens, token) == "service account token does not match server's copy"
    objects.held["secrets", "ns1", "s"] = {**held, "metadata": {**held["metadata"], "deletionTimestamp": "2020-01-01T00:00:00Z"}}
    assert await void(tokens, token) == "service account token has been invalidated"


async def test_a_pods_node_is_told_and_not_needed(tokens: ServiceAccountTokens, objects: Objects) -> None:
    objects.held["pods", "ns1", "p"] = {"metadata": {"name": "p", "uid": "u-pod"}}
    bound = [Bound("Pod", "p", "u-pod"), Bound("Node", "n", "")]
    token, _ = tokens.issue("ns1", ACCOUNT, audiences=[ISSUER], seconds=600, bound=bound)
    user = await tokens.user_of(token)
    assert user is not None
    assert user.extra["authentication.kubernetes.io/node-name"] == ("n",)
    assert "authentication.kubernetes.io/node-uid" not in user.extra


async def test_browsers_send_their_token_as_a_websocket_protocol() -> None:
    authentication = Authentication([StaticTokens({"t": UserInfo("jane")})])
    word = f"base64url.bearer.authorization.k8s.io.{_part(b't')}"
    headers = {"upgrade": "websocket", "sec-websocket-protocol": f"{word}, v5.channel.k8s.io"}
    assert (await authentication.authenticate("/", headers, None)).name == "jane"
    alone = {"upgrade": "websocket", "sec-websocket-protocol": word}
    assert (await authentication.authenticate("/", alone, None)).name == "system:anonymous"


async def test_the_anonymous_user_may_be_kept_out_or_let_in_to_some_paths() -> None:
    for anonymous, path, code in (
        (Anonymous(False), "/healthz", 401),
        (Anonymous(True, frozenset({"/healthz"})), "/healthz", 200),
        (Anonymous(True, frozenset({"/healthz"})), "/api", 401),
    ):
        try:
            found = (await Authentication([], anonymous=anonymous).authenticate(path, {}, None)).name
        except StatusError as refusal:
            found = str(refusal.code)
        assert found == ("system:anonymous" if code == 200 else str(code))


async def test_a_certificate_ends_in_time_even_on_an_open_connection() -> None:
    peer = peer_of({"subject": ((("commonName", "root"),),), "notAfter": "Jan  1 00:00:00 2026 GMT"}, b"der")
    before = Authentication([], now=lambda: peer.not_after - 1)
    assert (await before.authenticate("/", {}, peer)).name == "root"
    with pytest.raises(StatusError):
        await Authentication([], now=lambda: peer.not_after + 1).authenticate("/", {}, peer)


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
