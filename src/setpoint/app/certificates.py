"""The certificates of an API server, and how a cluster's first ones are made.

Making them needs cryptography, whose import and work would take a tenth of a first start. So a process of its own makes them
(`begin`) while this one still imports what it needs; any later start finds them and imports nothing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from setpoint.api.machinery.user import ADMIN
from setpoint.apiserver.pki import CLIENT, SERVER, Authority, KeyPair, Subject
from setpoint.app.data_dir import DataDir
from setpoint.app.identities import MASTERS, NODES, node_user
from setpoint.app.options import KUBERNETES_ADDRESS, Options

#: the common name of the API server's own certificate towards aggregated API servers
PROXY_NAME = "front-proxy-client"
_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost")


class Certificates:
    """The cluster's two CAs and what they signed for the API server; each is made when first asked for, and kept."""

    def __init__(self, options: Options) -> None:
        data = DataDir(options.data_dir)
        self.authority = Authority(data.pki)
        self.front_proxy = Authority(data.front_proxy, "setpoint-front-proxy-ca")
        self._options = options

    def serving(self) -> KeyPair:
        """The API server's own, for all names and addresses by which it is reached."""
        host = self._options.host
        addresses = {*_NAMES, "127.0.0.1", "::1", KUBERNETES_ADDRESS, socket.gethostname(), *self._options.tls_san}
        addresses |= set(_host_addresses()) if host in ("0.0.0.0", "::", "") else {host}  # noqa: S104  compared, not bound
        return self.authority.issue("apiserver", Subject("kube-apiserver", (), tuple(sorted(addresses)), (SERVER,)))

    def admin(self) -> KeyPair:
        return self.authority.issue("admin", Subject(ADMIN.name, (MASTERS,)))

    def kubelet_client(self) -> KeyPair:
        """Who the API server is at the nodes' ports."""
        return self.authority.issue("apiserver-kubelet-client", Subject("kube-apiserver-kubelet-client", (MASTERS,)))

    def proxy_client(self) -> KeyPair:
        """Who it is at servers of other APIs."""
        return self.front_proxy.issue(PROXY_NAME, Subject(PROXY_NAME))

    def node(self, name: str) -> KeyPair:
        """The certificate that a node of this machine serves its port with."""
        subject = Subject(node_user(name), (NODES,), (name, "localhost", "127.0.0.1"), (SERVER, CLIENT))
        return self.authority.issue(f"node-{name}", subject)

    def make(self) -> None:
        """All of them, and the key that signs service account tokens."""
        from setpoint.apiserver.authentication.signing_key import SigningKey

        key = SigningKey(self.authority.directory)
        for issue in (self.serving, self.admin, self.kubelet_client, self.proxy_client):
            issue()
        if self._options.runtime != "simulated":  # thousands of certificates take minutes
            for name in self._options.node_names:
                self.node(name)
        key.finish()


def begin(options: Options) -> Callable[[], None]:
    """Begin to make what a new cluster needs; what is returned waits for it.

    To be called before this process has threads. Where it fails the certificates are made when they are asked for.
    """
    if (DataDir(options.data_dir).pki / "sa.key").exists() or not hasattr(os, "fork"):
        return lambda: None
    child = os.fork()
    if child:
        return partial(_wait, child)
    status = 1
    try:
        Certificates(options).make()
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is ended twice


def _wait(child: int) -> None:
    with suppress(ChildProcessError):  # whoever started us had children reaped by the system: it waits all the same
        os.waitpid(child, 0)


def _host_addresses() -> list[str]:
    import psutil

    families = (socket.AF_INET, socket.AF_INET6)
    found = [entry.address for entries in psutil.net_if_addrs().values() for entry in entries if entry.family in families]
    return [address.partition("%")[0] for address in found]
