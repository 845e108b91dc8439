"""The API server as a part: store, pipeline, certificates, HTTP; started in this order and stopped in reverse."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.answers import error_answer
from setpoint.apiserver.authentication.certificates import Authorities
from setpoint.apiserver.authentication.service_accounts import ServiceAccountTokens
from setpoint.apiserver.authentication.signing_key import SigningKey
from setpoint.apiserver.authorization.rbac.authorizer import RBAC
from setpoint.apiserver.call import Call
from setpoint.apiserver.http import HttpServer, server_context
from setpoint.apiserver.kubelet_proxy.proxy import KubeletProxy
from setpoint.apiserver.pki import Subject, write_private
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import parse
from setpoint.app import (
    access,
    admission,
    authorizers,
    bootstrap,
    encryption,
    etcd,
    extension_authentication,
    flow_control_objects,
    kubeconfig,
)
from setpoint.app.assembly import make_pipeline
from setpoint.app.certificates import PROXY_NAME, Certificates
from setpoint.app.data_dir import DataDir
from setpoint.app.legacy_token_tracking import LegacyTokenTracking
from setpoint.app.options import DEFAULT_PORT, KUBERNETES_ADDRESS, SERVICE_RANGE, Options, StartError
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.registry.admission.reader import StoreReader
from setpoint.registry.service.allocation import ServiceAllocator
from setpoint.storage.encryption.values import Values
from setpoint.storage.protocol import Store, StoreError

if TYPE_CHECKING:
    from setpoint.apiserver.audit.log_process import LogProcess

_PORTS_TRIED = 50
_ROLES_AFTER = 0.2  # seconds: what starts first needs the processor more
LOOPBACK = UserInfo("system:apiserver", groups=("system:masters", "system:authenticated"))


class ApiServer:
    """One API server on one data directory."""

    def __init__(self, options: Options, clock: Clock) -> None:
        self.options = options
        self.data = DataDir(options.data_dir)
        self.certificates = Certificates(options)
        self.authority = self.certificates.authority
        self.port = 0
        self._clock = clock
        self._sealed = encryption.values(options.encryption)
        self._store = make_store(options, self.data, clock, self._sealed)
        self._objects = StoreReader(self._store)
        self._tokens = ServiceAccountTokens(SigningKey(self.data.pki), self._objects, clock)
        self._legacy_tokens = LegacyTokenTracking(clock)
        self._tokens.legacy_used = self._legacy_tokens.used
        self._proxy = KubeletProxy(self._node, self.authority.certificate_file, self.certificates.kubelet_client())
        deciding, deciders_end = authorizers.chosen(options, clock)
        self.pipeline = make_pipeline(
            self._store,
            clock,
            address=lambda: self.url.removeprefix("https://"),
            tokens=self._tokens,
            kubelet=self._proxy,
            timings=options.timings,
            minor=options.kubernetes_version,
            front_proxy=self.certificates.proxy_client(),
            authorizers=deciding,
            disabled_plugins=options.disabled_plugins,
            configured=admission.configured(options.admission_config),
            usage=self._proxy.summary if options.has_nodes else None,
        )
        if self._sealed.asks or options.encryption.reload:
            self.pipeline.health.add(encryption.HEALTH, lambda: self._sealed.trouble)
        self._authentication, ends = access.authentication(options, self._tokens, self._objects, clock)
        self.pipeline.on_close += [*ends, *deciders_end]
        self.pipeline.virtual("tokenreviews", self._review_token)
        front_proxy = self.certificates.front_proxy
        authorities = Authorities(self.authority.certificate_file, front_proxy.certificate_file)
        self._audit_log: LogProcess | None = None
        self._http = HttpServer(self.pipeline, self._authentication, authorities, refusal=self._refusal)

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.options.host in ("0.0.0.0", "") else self.options.host  # noqa: S104  every address includes this one
        return f"https://[{host}]:{self.port}" if ":" in host else f"https://{host}:{self.port}"

    async def start(self, *, announce: bool = True) -> None:
        """Open the store, make what every cluster has, listen, write the kubeconfig; raises StartError."""
        self._begin_audit()
        await encryption.prime(self.options.encryption, self._sealed, self._clock)
        try:
            await self._store.open()
        except StoreError as error:
            raise StartError(str(error)) from error
        if self.options.on_etcd:
            await etcd.check_authority(self._objects, self.authority.pem, self.data.pki)
        else:
            await ServiceAllocator(self._store).repair()
        for follower in self.pipeline.followers:
            await follower.load()
        authorities = (self.authority, self.certificates.front_proxy)
        context = server_context(self.certificates.serving(), [str(authority.certificate_file) for authority in authorities])
        self.pipeline.health.started = False
        self.port = await self._listen(context)
        self.data.remember_port(self.port)
        client = self.client(LOOPBACK, "kube-apiserver")
        await bootstrap.ensure(client, service_address=KUBERNETES_ADDRESS, port=self.port)
        await bootstrap.describe_server(
            client, service_range=SERVICE_RANGE, minor=self.options.kubernetes_version, nodes=self.options.has_nodes
        )
        self._write_kubeconfigs()
        self.pipeline.health.started = True
        if announce:
            self.announce()

    def follow(self, tasks: Tasks) -> None:
        """Begin to follow what in the store decides about the server itself (definitions of custom resources).

        The default roles are made beside that, since nothing that starts waits for them.
        """
        for follower in self.pipeline.followers:
            tasks.loop(type(follower).__name__, follower.run, clock=self._clock)
        tasks.loop("default roles", self._default_roles, clock=self._clock)
        tasks.loop("extensions", self._tell_extensions, clock=self._clock)
        tasks.loop("legacy tokens", self._track_legacy_tokens, clock=self._clock)
        tasks.loop("flow control objects", self._keep_flow_control, clock=self._clock)
        if self.options.encryption.reload:
            tasks.loop(
                "encryption", partial(encryption.follow, self.options.encryption, self._sealed, self._clock), clock=self._clock
            )
        if self._sealed.asks or self.options.encryption.reload:
            tasks.loop("key managers", partial(self._sealed.keep, self._clock), clock=self._clock)
        if self.options.on_etcd:
            tasks.loop("service repair", partial(ServiceAllocator(self._store).keep_repaired, self._clock), clock=self._clock)

    async def _tell_extensions(self) -> None:
        """Whom servers behind APIServices may believe; they look for it when they start."""
        await self._clock.sleep(_ROLES_AFTER)
        client_ca, proxy_ca = self.authority.pem, self.certificates.front_proxy.pem
        client = self.client(LOOPBACK, "kube-apiserver")
        await extension_authentication.ensure(client, client_ca=client_ca, proxy_ca=proxy_ca, proxy_name=PROXY_NAME)

    async def _track_legacy_tokens(self) -> None:
        await self._clock.sleep(_ROLES_AFTER)
        await self._legacy_tokens.run(self.client(LOOPBACK, "kube-apiserver"))

    async def _default_roles(self) -> None:
        await self._clock.sleep(_ROLES_AFTER)
        await bootstrap.default_roles(self.client(LOOPBACK, "kube-apiserver"))
        for follower in self.pipeline.followers:
            if isinstance(follower, RBAC):
                follower.defaults_made()

    def _begin_audit(self) -> None:
        audit = self.options.audit
        if audit.policy and audit.log:
            from setpoint.app import auditing

            self.pipeline.audit, self._audit_log = auditing.begin(audit, self.pipeline, self._clock)

    def _refusal(self, request: Request, error: StatusError) -> Response:
        """The answer to who did not prove who they are; it is recorded, too."""
        response = error_answer(request, error)
        if self.pipeline.audit is not None:
            self.pipeline.audit.refused(request, parse(request), response)
        return response

    async def _keep_flow_control(self) -> None:
        client = self.client(LOOPBACK, "kube-apiserver")
        await flow_control_objects.keep(client, self._clock, self.options.kubernetes_version)

    def announce(self) -> None:
        """Leave the address where the other parts look for it."""
        write_private(self.data.address_file, f"{self.url}\n".encode())

    async def stop(self) -> None:
        """No new requests, a moment for those under way, then the store."""
        self.pipeline.health.shutting_down = True
        await self._http.stop()
        await self.pipeline.close()
        await self._proxy.close()
        await self._store.close()
        await self._sealed.close()
        if self._audit_log is not None:
            await self._audit_log.close()

    def client(self, user: UserInfo, agent: str) -> Client:
        """A client in this process, by that identity."""
        return Client(InProcessTransport(self.pipeline, Request, user), user_agent=agent, clock=self._clock)

    def component_kubeconfig(self, name: str, subject: Subject) -> Path:
        """Write the kubeconfig of a part that runs as a process of its own."""
        file = self.data.component_kubeconfig(name)
        pair = self.authority.issue(f"client-{name}", subject)
        kubeconfig.write(file, kubeconfig.document(self.url, self.authority.certificate_file, pair, name))
        return file

    async def _review_token(self, call: Call) -> Response:
        from setpoint.apiserver.handlers.token_reviews import TokenReviews

        return await TokenReviews(self._authentication, self._tokens.issuer).handle(call)

    async def _node(self, name: str) -> Mapping[str, Any] | None:
        return await self._objects.get("nodes", "", name)

    async def _listen(self, context: Any) -> int:
        """Listen on the wanted port; where any will do, on the last one, so that clients find a restarted server again."""
        for port in self._candidates():
            try:
                return await self._http.start(self.options.host, port, context)
            except OSError as error:
                if self.options.port in (None, 0) and error.errno == errno.EADDRINUSE:
                    continue
                if error.errno == errno.EADDRINUSE:
                    raise StartError(f"port {port} on {self.options.host} is in use") from error
                raise StartError(f"cannot listen on {self.options.host}, port {port}: {_reason(error)}") from error
        raise StartError(f"ports {DEFAULT_PORT} to {DEFAULT_PORT + _PORTS_TRIED - 1} on {self.options.host} are all in use")

    def _candidates(self) -> list[int]:
        if self.options.port:
            return [self.options.port]
        last = self.data.last_port()
        rest = [0] if self.options.port == 0 else list(range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED))
        return [last, *rest] if last else rest

    def _write_kubeconfigs(self) -> None:
        config = kubeconfig.document(self.url, self.authority.certificate_file, self.certificates.admin())
        try:
            kubeconfig.write(self.data.admin_kubeconfig, config)
            if self.options.kubeconfig is not None:
                kubeconfig.write(self.options.kubeconfig, config)
            if self.options.merge:
                kubeconfig.merge_into(Path.home() / ".kube" / "config", config)
        except (OSError, ValueError) as error:
            raise StartError(f"kubeconfig cannot be written: {error}") from error


def make_store(options: Options, data: DataDir, clock: Clock, values: Values) -> Store:
    """The store that `options` ask for, not yet open; `values` are what is sealed in it."""
    if options.store == "memory":
        from setpoint.storage.backends.memory import memory_store

        return memory_store(clock)
    if options.on_etcd:
        return etcd.store(options, clock, values)
    from setpoint.storage.backends.sqlite import sqlite_store

    return sqlite_store(data.store, clock, values=values)


def _reason(error: Exception) -> str:
    """A few words for the user: what the system says of the error, without addresses and numbers that stand elsewhere."""
    if isinstance(error, socket.gaierror) or not isinstance(error, OSError) or error.errno is None:
        return str(getattr(error, "strerror", None) or error)
    return os.strerror(error.errno)
