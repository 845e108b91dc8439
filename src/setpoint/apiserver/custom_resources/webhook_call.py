"""One POST to a webhook, at its URL or at its Service, which is looked up in the store: nobody resolves cluster names here.

Source: apiserver `pkg/util/webhook/client.go`, `pkg/util/proxy/proxy.go`.
"""

from __future__ import annotations

import base64
import errno
import ssl
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import orjson
from msgspec import Struct

from setpoint.apiserver.custom_resources.conversion import CallFailed
from setpoint.storage.protocol import NotFound, Store

_SECONDS = 30
_LIMIT = 64 * 1024 * 1024
_SLICES, _SERVICE_NAME = "endpointslices.discovery.k8s.io", "kubernetes.io/service-name"


class Place(Struct, frozen=True):
    """Where to connect, what to call it, and the name that its certificate must have ("": the host's)."""

    url: str
    shown: str
    server_name: str = ""


class WebhookCall:
    """Calls what a `clientConfig` names."""

    def __init__(self, config: Mapping[str, Any], store: Store) -> None:
        self._config = config
        self._store = store

    async def __call__(self, body: bytes) -> bytes:
        place = await self._place()
        import aiohttp

        headers = {"Content-Type": "application/json", "Accept": "application/json, */*", "User-Agent": "kube-apiserver"}
        if place.server_name:
            headers["Host"] = urlsplit(place.shown).netloc
        options: dict[str, Any] = {"server_hostname": place.server_name} if place.server_name else {}
        try:
            async with (
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(ssl=self._tls, force_close=True),
                    timeout=aiohttp.ClientTimeout(total=_SECONDS),
                    cookie_jar=aiohttp.DummyCookieJar(),
                ) as session,
                session.post(place.url, data=body, headers=headers, allow_redirects=False, **options) as answer,
            ):
                content = await _whole(answer.content)
        except TimeoutError:
            raise CallFailed(f'Post "{place.shown}": context deadline exceeded') from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise CallFailed(f'Post "{place.shown}": tls: failed to verify certificate: {error.certificate_error}') from None
        except aiohttp.ClientConnectorError as error:
            raise CallFailed(f'Post "{place.shown}": dial tcp {error.host}:{error.port}: connect: {_reason(error)}') from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CallFailed(f'Post "{place.shown}": {error or "EOF"}') from None
        if not 200 <= answer.status < 300:
            raise CallFailed(_refusal(answer.status, content))
        return content

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        bundle = self._config.get("caBundle")
        try:
            return ssl.create_default_context(cadata=base64.b64decode(bundle).decode() if bundle else None)
        except (ValueError, ssl.SSLError):
            raise CallFailed("unable to load root certificates: unable to parse bytes as PEM block") from None

    async def _place(self) -> Place:
        if url := self._config.get("url"):
            shown = f"{url}{'&' if '?' in url else '?'}timeout={_SECONDS}s"
            return Place(shown, shown)
        service = self._config.get("service") or {}
        name, namespace, port = service.get("name", ""), service.get("namespace", ""), service.get("port") or 443
        path = f"/{(service.get('path') or '').removeprefix('/')}?timeout={_SECONDS}s"
        host = f"{name}.{namespace}.svc"
        shown = f"https://{host}:{port}{path}"
        try:
            address = await self._address(namespace, name, port)
        except CallFailed as error:
            raise CallFailed(f'Post "{shown}": {error}') from None
        return Place(f"https://{address}{path}", shown, host)

    async def _address(self, namespace: str, name: str, port: int) -> str:
        """A ready endpoint of a Service's port; its own address where it has no endpoints that are known."""
        try:
            service = orjson.loads((await self._store.get(f"services/{namespace}/{name}")).value)
        except NotFound:
            raise CallFailed(f'service "{name}" not found') from None
        spec = service["spec"]
        chosen = next((each for each in spec.get("ports") or () if each["port"] == port), None)
        if chosen is None:
            raise CallFailed(f'no service port {port} found for service "{name}"')
        if spec.get("type") == "ExternalName":
            return f"{spec.get('externalName')}:{port}"
        page = await self._store.list(f"{_SLICES}/{namespace}/")
        for address in _endpoints([orjson.loads(record.value) for record in page.records], name, chosen.get("name") or ""):
            return address
        if spec.get("clusterIP") in (None, "", "None") or spec.get("selector"):
            raise CallFailed(f'no endpoints available for service "{name}"')
        return _joined(spec["clusterIP"], port)


def _endpoints(slices: list[dict[str, Any]], service: str, port: str) -> Iterator[str]:
    for each in slices:
        if (each["metadata"].get("labels") or {}).get(_SERVICE_NAME) != service:
            continue
        numbers = [one["port"] for one in each.get("ports") or () if (one.get("name") or "") == port and one.get("port")]
        for endpoint in each.get("endpoints") or ():
            if numbers and (endpoint.get("conditions") or {}).get("ready") is not False:
                yield _joined(endpoint["addresses"][0], numbers[0])


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _whole(content: Any) -> bytes:
    """An answer's body, if it is not too large."""
    pieces, size = [], 0
    async for piece in content.iter_any():
        size += len(piece)
        if size > _LIMIT:
            raise CallFailed(f"the answer is larger than {_LIMIT} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _reason(error: OSError) -> str:
    if error.errno == errno.ECONNREFUSED:
        return "connection refused"
    return str(error.strerror or error).lower()


def _refusal(status: int, content: bytes) -> str:
    """client-go's words for an answer that is no success."""
    if status == 404:
        return "the server could not find the requested resource"
    text = content[:2048].decode(errors="replace").strip() or "unknown"
    if status >= 500:
        return f'an error on the server ("{text}") has prevented the request from succeeding'
    return f"the server responded with the status code {status} but did not return more information"
