"""The proxy itself: one connection to the pod's node per log, exec or attach."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import StatusError, bad_request, not_found
from setpoint.apiserver import reach
from setpoint.apiserver.bounds import MAX_MESSAGE
from setpoint.apiserver.kubelet_proxy import options
from setpoint.apiserver.kubelet_proxy.relay import FORWARDED, PROCESS, V5, Relay, Served
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.request import Request, Response

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import web

    from setpoint.apiserver.aiohttp_carrier import Carrier

_CONNECT = 10.0  # seconds to reach a node
_ANSWER = 30.0  # seconds in which an agent must begin to answer

GetNode = Callable[[str], Awaitable[Mapping[str, Any] | None]]


class KubeletProxy:
    """Reaches nodes. `get_node` finds a Node object by name; `pair` is the API server's client certificate."""

    def __init__(self, get_node: GetNode, ca_file: Path, pair: KeyPair) -> None:
        self._get_node = get_node
        self._ca_file = ca_file
        self._pair = pair
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def logs(self, request: Request, pod: Mapping[str, Any]) -> Response:
        """`GET …/pods/<name>/log`: the text as it comes; an empty answer for a pod without a node."""
        container = options.container_of(pod, request.parameter("container"))
        query = options.log_query(request, pod["metadata"]["name"])
        if not pod["spec"].get("nodeName"):
            return Response(204, {}, b"")
        url = await self._url("containerLogs", pod, container)
        answer = await self._reach(pod, lambda session: session.get(url, params=query, allow_redirects=False))
        if answer.status >= 300:
            await _raise_refusal(answer)
        return Response(200, {"Content-Type": "text/plain"}, stream=_chunks(answer))

    async def stream(self, request: Request, pod: Mapping[str, Any], kind: str) -> Response:
        """Exec or attach (`kind`): pass the streams on between the client and the node until either ends."""
        container = options.container_of(pod, request.parameter("container"))
        options.host_of(pod)
        options.check_streams(request, command_needed=kind == "exec")
        url = await self._url(kind, pod, container)
        return await self._relayed(request, pod, url, options.stream_query(request, container), PROCESS)

    async def forward(self, request: Request, pod: Mapping[str, Any]) -> Response:
        """Connections to the pod's ports (`portforward`), in the same way."""
        options.host_of(pod)
        url = await self._url("portForward", pod)
        return await self._relayed(request, pod, url, options.forward_query(request), FORWARDED)

    async def _relayed(
        self, request: Request, pod: Mapping[str, Any], url: str, query: Sequence[tuple[str, str]], served: Served
    ) -> Response:
        """The same stream to the client and to the node, in one of the forms that the client offers."""
        from setpoint.apiserver.aiohttp_carrier import Carrier
        from setpoint.apiserver.kubelet_proxy import spdy

        carrier, upgrade = request.carrier, request.header("upgrade").lower()
        if not isinstance(carrier, Carrier) or upgrade not in {"websocket", spdy.UPGRADE}:
            raise bad_request("Upgrade request required")
        if upgrade == spdy.UPGRADE:
            streams = spdy.protocol_of(request, served.spdy)
            node = await self._upgrade(pod, url, query, spdy.PREFIX + streams)
            try:
                await spdy.relay(carrier, node, streams)
            finally:
                await node.close()
        else:
            await self._web_socket(carrier, pod, url, query, served.chosen(request))
        return Response(101, {})

    async def _web_socket(
        self, carrier: Carrier, pod: Mapping[str, Any], url: str, query: Sequence[tuple[str, str]], protocol: str
    ) -> None:
        from aiohttp import web

        named = (protocol,) if protocol else ()
        client = web.WebSocketResponse(protocols=named, max_msg_size=MAX_MESSAGE, compress=False, autoping=False)
        try:
            node = await self._upgrade(pod, url, query, protocol)
        except StatusError as error:
            if protocol != V5:
                raise
            await _accept(client, carrier)
            await Relay(client).refuse(error)
            return
        try:
            await _accept(client, carrier)
            await Relay(client).run(node)
        finally:
            await node.close()

    async def summary(self, node: Mapping[str, Any]) -> bytes:
        """What a node says that it and its pods use. Raises StatusError, OSError and TimeoutError."""
        import aiohttp

        host, port = options.node_address(node)
        host = f"[{host}]" if ":" in host else host
        try:
            async with (
                asyncio.timeout(_CONNECT),
                self._sessions().get(f"https://{host}:{port}/stats/summary", allow_redirects=False) as answer,
            ):
                if answer.status != 200:
                    raise OSError(f"{answer.status} {answer.reason}")
                return await answer.read()
        except aiohttp.ClientError as error:
            raise OSError(str(error)) from error

    async def _url(self, kind: str, pod: Mapping[str, Any], container: str = "") -> str:
        node_name = options.host_of(pod)
        node = await self._get_node(node_name)
        if node is None:
            raise not_found("", "nodes", node_name)
        host, port = options.node_address(node)
        host = f"[{host}]" if ":" in host else host
        meta = pod["metadata"]
        path = f"/{kind}/{meta['namespace']}/{meta['name']}"
        if kind != "containerLogs":
            path += f"/{meta['uid']}"
        if container:
            path += f"/{container}"
        return f"https://{host}:{port}{path}"

    async def _upgrade(
        self, pod: Mapping[str, Any], url: str, query: Sequence[tuple[str, str]], protocol: str
    ) -> aiohttp.ClientWebSocketResponse:
        import aiohttp

        try:
            async with asyncio.timeout(_ANSWER):
                return await self._sessions().ws_connect(
                    url, params=query, protocols=(protocol,) if protocol else (), max_msg_size=MAX_MESSAGE, autoclose=False
                )
        except aiohttp.WSServerHandshakeError as error:
            raise StatusError(error.status, "InternalError", f"Internal error occurred: {error.message}", {}) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(pod, error) from error

    async def _reach(
        self, pod: Mapping[str, Any], call: Callable[[aiohttp.ClientSession], Awaitable[aiohttp.ClientResponse]]
    ) -> aiohttp.ClientResponse:
        import aiohttp

        try:
            async with asyncio.timeout(_ANSWER):
                return await call(self._sessions())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(pod, error) from error

    def trust(self) -> ssl.SSLContext:
        """TLS to agents: the cluster's CA only, and our certificate."""
        context = ssl.create_default_context(cafile=str(self._ca_file))
        context.load_cert_chain(self._pair.certificate, self._pair.key)
        return context

    def _sessions(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT)
            connector = aiohttp.TCPConnector(ssl=self.trust(), limit=0, force_close=True, socket_factory=reach.make_socket)
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, trace_configs=[reach.no_redirects()])
        return self._session


def _unreachable(pod: Mapping[str, Any], error: Exception) -> StatusError:
    why = str(error) or f"the agent does not answer within {_ANSWER:.0f} s"
    message = f'error dialing backend of node "{pod["spec"]["nodeName"]}": {why}'
    return StatusError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


async def _raise_refusal(answer: aiohttp.ClientResponse) -> None:
    text = (await answer.text()).strip()
    reason = {400: "BadRequest", 404: "NotFound"}.get(answer.status, "InternalError")
    answer.close()
    raise StatusError(answer.status, reason, text)


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.content.iter_any():
            yield chunk
    finally:
        answer.close()


async def _accept(client: web.WebSocketResponse, carrier: Carrier) -> None:
    await client.prepare(carrier.request)
    carrier.response = client
