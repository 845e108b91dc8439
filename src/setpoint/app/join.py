"""`setpoint node`: another machine becomes a node of a cluster.

It proves itself by a token once (a bootstrap token, as `kubeadm join` has it, or any other whose user may ask for nodes'
certificates), asks for a client certificate as `system:node:<name>` and, with that, for a serving certificate; both are kept, so
that a restart needs no token, and renewed before they end.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NODES
from setpoint.apiserver.pki import KeyPair, Subject
from setpoint.app import identities, parts
from setpoint.app.node_certificates import CLIENT, SERVING, NodeCertificate
from setpoint.app.options import Options, StartError
from setpoint.app.remote import until_stopped
from setpoint.app.say import say
from setpoint.client.client import Client
from setpoint.client.kubeconfig import Access
from setpoint.client.transport import TransportError
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock


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
    directory, clock = joining.options.data_dir / "joined" / joining.name, RealClock()
    address = _own_address(joining.server)
    user, groups = identities.node_user(joining.name), (identities.NODES,)
    identity = NodeCertificate(directory / "client", CLIENT, Subject(user, groups), clock)
    serving = NodeCertificate(directory / "serving", SERVING, Subject(user, groups, (joining.name, address)), clock)
    await _ensure(identity, joining, None, stop)
    if not serving.usable:
        await _register(joining, identity.pair, address)
    await _ensure(serving, joining, identity.pair, stop)
    client, transport = _connect(joining, identity.pair)
    agent = parts.node_agent(
        joining.options, joining.name, serving.pair, joining.ca_file, joining.server, client, clock, address=address
    )

    async def present() -> None:
        """What is done with a new serving certificate is the agent's: it looks for it."""

    loops: dict[str, Callable[[], Awaitable[None]]] = {
        joining.name: agent.run,
        "client certificate": lambda: identity.rotate(lambda: client, transport.renew),
        "serving certificate": lambda: serving.rotate(lambda: client, present),
    }
    say(f"node {joining.name} joins {joining.server}")
    try:
        await until_stopped(stop, loops)
    finally:
        await transport.close()


async def _ensure(certificate: NodeCertificate, joining: JoinOptions, identity: KeyPair | None, stop: asyncio.Event) -> None:
    """Have a certificate: the one that is kept, or a new one that the cluster signs."""
    if certificate.usable:
        return
    client, transport = _connect(joining, identity)
    try:
        await certificate.obtain(client, stop)
    except (StatusError, TransportError) as error:
        raise StartError(f"{joining.server} gives no certificate: {error}") from error
    finally:
        await transport.close()


async def _register(joining: JoinOptions, identity: KeyPair, address: str) -> None:
    """Tell where the node is, which its serving certificate is held against; the rest of its Node is the agent's to say."""
    client, transport = _connect(joining, identity)
    told = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": joining.name}]
    try:
        try:
            await client.create(NODES, {"metadata": {"name": joining.name}, "status": {"addresses": told}})
        except StatusError as error:
            if error.code != 409:
                raise
            patch = {"status": {"addresses": told}}
            await client.patch(NODES, joining.name, patch, kind="strategic", subresource="status")
    except (StatusError, TransportError) as error:
        raise StartError(f"{joining.server} does not register the node: {error}") from error
    finally:
        await transport.close()


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
