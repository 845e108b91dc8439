"""Requests for certificates, through the API server: what is approved, signed, refused and cleared away."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from msgspec.structs import replace
from tests.controllers.conftest import World

from setpoint.apiserver.pki import Authority, Subject
from setpoint.apiserver.signing import new_request
from setpoint.app.parts import signer
from setpoint.controllers.certificates.requests import API_SIGNER, CLIENT_SIGNER, SERVING_SIGNER, Requested, complaint
from setpoint.controllers.component import Settings

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODE = Subject("system:node:n1", ("system:nodes",))
CLIENT, SERVING = ("digital signature", "client auth"), ("digital signature", "server auth")
CONTROLLERS = tuple(f"certificatesigningrequest-{verb}-controller" for verb in ("approving", "cleaner", "signing"))


@pytest.fixture
async def served(world: World, tmp_path: Path) -> World:
    never = replace(signer(Authority(tmp_path)), expires=lambda _: inf)  # certificates follow the real clock
    await world.run(*CONTROLLERS, settings=Settings(signer=never))
    return world


async def ask(world: World, subject: Subject, signer_name: str, usages: Sequence[str], **spec: Any) -> Any:
    pem, _ = new_request(subject)
    body = {
        "metadata": {"generateName": "csr-"},
        "spec": {"request": base64.b64encode(pem).decode(), "signerName": signer_name, "usages": list(usages), **spec},
    }
    name = (await world.call("POST", PATH, body))["metadata"]["name"]
    await world.clock.advance(2)
    return await world.get(f"{PATH}/{name}")


def conditions(request: Any) -> list[str]:
    return [condition["type"] for condition in request["status"].get("conditions") or ()]


async def approve(world: World, request: Any) -> Any:
    request["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "Mine"}]
    await world.call("PUT", f"{PATH}/{request['metadata']['name']}/approval", request)
    await world.clock.advance(2)
    return await world.get(f"{PATH}/{request['metadata']['name']}")


async def test_who_may_make_nodes_gets_a_nodes_certificate(served: World) -> None:
    request = await ask(served, NODE, CLIENT_SIGNER, CLIENT, expirationSeconds=3600)
    [condition] = request["status"]["conditions"]
    assert condition["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."
    certificate = x509.load_pem_x509_certificate(base64.b64decode(request["status"]["certificate"]))
    assert certificate.subject.rfc4514_string() == "CN=system:node:n1,O=system:nodes"
    assert list(certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    lifetime = (certificate.not_valid_after_utc - certificate.not_valid_before_utc).total_seconds()
    assert lifetime == 3600 + 300


async def test_a_clients_certificate_waits_for_a_person(served: World) -> None:
    request = await ask(served, Subject("jane", ("dev",)), API_SIGNER, CLIENT)
    assert conditions(request) == []
    request = await approve(served, request)
    assert "BEGIN CERTIFICATE" in base64.b64decode(request["status"]["certificate"]).decode()


@pytest.mark.parametrize(
    ("subject", "signer_name", "usages", "said"),
    [
        (Subject("jane", ("dev",)), API_SIGNER, SERVING, "invalid usage for client certificate: server auth"),
        (Subject("root", ("system:masters",)), CLIENT_SIGNER, CLIENT, "subject organization is not system:nodes"),
        (Subject("n1", ("system:nodes",)), CLIENT_SIGNER, CLIENT, "subject common name does not begin with system:node:"),
        (Subject(*(NODE.name, NODE.groups, ("x.org",))), CLIENT_SIGNER, CLIENT, "DNS subjectAltNames are not allowed"),
        (NODE, CLIENT_SIGNER, SERVING, "usages did not match [client auth digital signature key encipherment]"),
        (NODE, SERVING_SIGNER, SERVING, "DNS or IP subjectAltName is required"),
    ],
)
async def test_even_approved_requests_must_be_what_their_signer_signs(
    served: World, subject: Subject, signer_name: str, usages: Sequence[str], said: str
) -> None:
    request = await approve(served, await ask(served, subject, signer_name, usages))
    assert "certificate" not in request["status"]
    failed = request["status"]["conditions"][-1]
    assert (failed["type"], failed["reason"], failed["message"]) == ("Failed", "SignerValidationFailure", said)


async def test_others_serving_certificates_and_others_signers_are_left_alone(served: World) -> None:
    serving = Subject(NODE.name, NODE.groups, ("n1", "10.0.0.1"))
    assert conditions(await ask(served, serving, SERVING_SIGNER, SERVING)) == []  # the administrator is not this node
    request = await approve(served, await ask(served, NODE, "example.com/mine", CLIENT))
    assert "certificate" not in request["status"]


async def test_requests_are_cleared_away_in_their_time(served: World) -> None:
    answered = (await ask(served, NODE, CLIENT_SIGNER, CLIENT))["metadata"]["name"]
    pending = (await ask(served, Subject("jane"), API_SIGNER, CLIENT))["metadata"]["name"]
    await served.clock.advance(2 * 3600 - 100)
    assert {*await served.names(PATH)} == {answered, pending}
    await served.clock.advance(200)
    assert await served.names(PATH) == [pending]
    await served.clock.advance(23 * 3600)
    assert await served.names(PATH) == []


async def test_an_answer_that_says_it_is_old_stays_until_somebody_looks(served: World) -> None:
    request = await ask(served, Subject("jane"), API_SIGNER, CLIENT)
    request["status"]["conditions"] = [{"type": "Denied", "status": "True", "lastUpdateTime": "2001-01-01T00:00:00Z"}]
    await served.call("PUT", f"{PATH}/{request['metadata']['name']}/approval", request)
    await served.clock.advance(3000)
    assert await served.names(PATH)
    await served.clock.advance(700)
    assert not await served.names(PATH)


def test_every_sort_of_name_is_judged() -> None:
    asked = Requested(NODE.name, NODE.groups, ("n1",), emails=("a@b",))
    assert complaint(SERVING_SIGNER, asked, SERVING) == "Email subjectAltNames are not allowed"
    assert complaint(SERVING_SIGNER, Requested(NODE.name, NODE.groups, ("n1",)), ("key encipherment", *SERVING)) == ""
    assert complaint(API_SIGNER, asked, ("digital signature",)) == "missing required usage for client certificate: client auth"
