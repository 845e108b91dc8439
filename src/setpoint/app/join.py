"""`setpoint node`: another machine becomes a node of a cluster.

It proves itself by a token once, asks for a client certificate as `system:node:<name>` and, with that, for a serving certificate
(CertificateSigningRequests, as kubelet's TLS bootstrap does); both are kept, so that a restart needs no token.
"""

from __future__ import annotations

import asyncio
import base64
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS
from setpoint.apiserver.pki import KeyPair, Subject, write_private
from setpoint.apiserver.signing import new_request
from setpoint.app import identities, parts
from setpoint.app.options import Options, StartError
from setpoint.app.remote import until_stopped
from setpoint.app.say import say
from setpoint.client.client import Client
from setpoint.client.kubeconfig import Access
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock

_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
_SERVING_SIGNER = "kubernetes.io/kubelet-serving"
_PATIENCE = 30.0  # seconds for a request to be signed
_CLIENT_USAGES = ["digital signature", "client auth"]
_SERVING_USAGES = ["digital signature", "server auth"]


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """Where to join, as whom. `ca_file` is the cluster's CA; the token is needed the first time only."""

    server: str
    token: str
    ca_file: Path
    name: str
    options: Options


async def run_joined(joining: JoinOptions, stop: asyncio.Event) -> None:
    """Join and work until `stop` is set; raises StartError."""
    if not joining.ca_file.is_file():
        raise StartError(f"CA file {joining.ca_file} is not there")
    directory = joining.options.data_dir / "joined" / joining.name
    address = _own_address(joining.server)
    subject = Subject(identities.node_user(joining.name), (identities.NODES,), (joining.name, address))
    identity = await _certificate(directory / "client", joining, Subject(subject.name, subject.groups), None)
    serving = await _certificate(directory / "serving", joining, subject, identity)
    client, transport = _connect(joining, identity)
    agent = parts.node_agent(
        joining.options, joining.name, serving, joining.ca_file, joining.server, client, RealClock(), address=address
    )
    say(f"node {joining.name} joins {joining.server}")
    try:
        await until_stopped(stop, {joining.name: agent.run})
    finally:
        await transport.close()


async def _certificate(place: Path, joining: JoinOptions, subject: Subject, identity: KeyPair | None) -> KeyPair:
    """The certificate kept at `place`, or a new one that the cluster signs."""
    pair = KeyPair(place.with_suffix(".crt"), place.with_suffix(".key"))
    if pair.certificate.exists() and pair.key.exists():
        return pair
    request, key = new_request(subject)
    client, transport = _connect(joining, identity)
    try:
        certificate = await _signed(client, request, serving=identity is not None)
    finally:
        await transport.close()
    write_private(pair.key, key)
    write_private(pair.certificate, certificate, mode=0o644)
    return pair


async def _signed(client: Client, request: bytes, *, serving: bool) -> bytes:
    body = {
        "metadata": {"generateName": "node-csr-"},
        "spec": {
            "request": base64.b64encode(request).decode(),
            "signerName": _SERVING_SIGNER if serving else _CLIENT_SIGNER,
            "usages": _SERVING_USAGES if serving else _CLIENT_USAGES,
        },
    }
    name = (await client.create(CERTIFICATESIGNINGREQUESTS, body)).metadata.name
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE
    while loop.time() < deadline:
        status = (await client.get(CERTIFICATESIGNINGREQUESTS, name)).status
        if status.certificate:
            return base64.b64decode(status.certificate)
        if any(condition.type in ("Denied", "Failed") for condition in status.conditions):
            break
        await asyncio.sleep(0.1)
    raise StartError(f"the certificate request {name} was not signed: see `kubectl describe csr {name}`")


def _connect(joining: JoinOptions, identity: KeyPair | None) -> tuple[Client, HttpTransport]:
    if identity is None and not joining.token:
        raise StartError("a token is needed to join for the first time")
    access = Access(
        joining.server,
        ca_file=str(joining.ca_file),
        token="" if identity else joining.token,
        certificate_file=str(identity.certificate) if identity else "",
        key_file=str(identity.key) if identity else "",
    )
    transport = HttpTransport(access)
    return Client(transport, user_agent="kubelet", clock=RealClock()), transport


def _own_address(server: str) -> str:
    """The address of this machine that faces the server; no packet is sent."""
    where = urlsplit(server)
    try:
        with socket.socket(socket.AF_INET6 if ":" in (where.hostname or "") else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((where.hostname, where.port or 443))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise StartError(f"{server} cannot be reached: {error}") from error
