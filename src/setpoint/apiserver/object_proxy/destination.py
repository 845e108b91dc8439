"""Where `[scheme:]name[:port]` of a pod, a service or a node leads.

Sources: `pkg/registry/core/pod/strategy.go`, `core/service/storage/storage.go`, `core/node/strategy.go` (ResourceLocation);
apimachinery `util/net/port_split.go`.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError, bad_request, not_found
from setpoint.apiserver import reach
from setpoint.apiserver.kubelet_proxy.options import node_address
from setpoint.storage.protocol import NotFound, Store

Object = Mapping[str, Any]
_SCHEMES = ("", "http", "https")


class Destination(Struct, frozen=True):
    """Where to connect. `agent`: it is a node's own agent, which is told by its certificate."""

    scheme: str
    host: str
    port: str = ""
    agent: bool = False

    @property
    def authority(self) -> str:
        """`host:port` as it stands in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host

    @property
    def url(self) -> str:
        return f"{self.scheme or 'http'}://{self.authority}"


def split(asked: str, kind: str) -> tuple[str, str, str]:
    """Scheme, name and port, of which the first and the last may be empty; raises StatusError 400."""
    parts = asked.split(":")
    scheme, name, port = parts if len(parts) == 3 else ("", *parts, "")[:3]
    if len(parts) > 3 or not name or scheme not in _SCHEMES:
        raise bad_request(f'invalid {kind} request "{asked}"')
    return scheme, name, port


class Destinations:
    """Looks up objects; of several endpoints each has its turn."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = itertools.count()
        self._of: Mapping[str, Callable[[str, str], Awaitable[Destination]]] = {
            "pods": self._pod,
            "services": self._service,
            "nodes": self._node,
        }

    async def find(self, plural: str, namespace: str, asked: str) -> Destination:
        """Where a name leads. Raises StatusError 400, 404, 503."""
        return await self._of[plural](namespace, asked)

    async def _get(self, plural: str, namespace: str, name: str) -> Object | None:
        try:
            record = await self._store.get(f"{plural}/{namespace}/{name}" if namespace else f"{plural}/{name}")
        except NotFound:
            return None
        found: Object = orjson.loads(record.value)
        return found

    # ---- pods

    async def _pod(self, namespace: str, asked: str) -> Destination:
        scheme, name, port = split(asked, "pod")
        pod = await self._get("pods", namespace, name)
        if pod is None:
            raise not_found("", "pods", name)
        address = next(iter(_addresses(pod)), "")
        _check(address)
        return Destination(scheme, address, port or _first_port(pod))

    # ---- services

    async def _service(self, namespace: str, asked: str) -> Destination:
        scheme, name, port = split(asked, "service")
        if _is_number(port):
            service = await self._get("services", namespace, name)
            if service is None:
                raise not_found("", "services", name)
            port = _name_of_port(service, int(port), name)
        endpoints = await self._get("endpoints", namespace, name)
        if endpoints is None:
            raise not_found("", "endpoints", name)
        if not endpoints.get("subsets"):
            raise _unavailable(f'no endpoints available for service "{name}"')
        found = [place async for place in self._places(namespace, endpoints["subsets"], port)]
        if not found:
            raise _unavailable(f'no endpoints available for service "{asked}"')
        address, number = found[next(self._turn) % len(found)]
        return Destination(scheme, address, number)

    async def _places(self, namespace: str, subsets: Sequence[Object], port: str) -> AsyncIterator[tuple[str, str]]:
        """Addresses and ports of a service's ready pods: what is no pod's address is not reached, whatever is written there."""
        for subset in subsets:
            number = next((one["port"] for one in subset.get("ports") or () if (one.get("name") or "") == port), None)
            for address in (subset.get("addresses") or ()) if number else ():
                if await self._is_pod(namespace, address):
                    yield address["ip"], str(number)

    async def _is_pod(self, namespace: str, address: Object) -> bool:
        target = address.get("targetRef") or {}
        if target.get("namespace") != namespace:
            return False
        pod = await self._get("pods", namespace, str(target.get("name")))
        return pod is not None and address["ip"] in _addresses(pod)

    # ---- nodes

    async def _node(self, _: str, asked: str) -> Destination:
        scheme, name, port = split(asked, "node")
        node = await self._get("nodes", "", name)
        if node is None:
            raise not_found("", "nodes", name)
        host, own = node_address(node)
        if port in ("", str(own)):
            return Destination("https", host, str(own), agent=True)
        if host.replace(".", "").isdigit() or ":" in host:
            _check(host)  # of a name, what it resolves to is checked when it is connected to
        return Destination(scheme, host, port)


def _addresses(pod: Object) -> Iterator[str]:
    status = pod.get("status") or {}
    listed = [str(each.get("ip") or "") for each in status.get("podIPs") or ()]
    yield from listed or [str(status.get("podIP") or "")]


def _first_port(pod: Object) -> str:
    """The first port that any container names."""
    ports = (each["ports"][0]["containerPort"] for each in pod["spec"]["containers"] if each.get("ports"))
    return str(next(ports, ""))


def _is_number(port: str) -> bool:
    return port.removeprefix("-").isdecimal() and port.isascii()


def _name_of_port(service: Object, number: int, name: str) -> str:
    for port in service["spec"].get("ports") or ():
        if port["port"] == number:
            return str(port.get("name") or "")
    raise _unavailable(f'no service port {number} found for service "{name}"')


def _check(address: str) -> None:
    try:
        reach.check_proxied(address)
    except reach.NotAllowed:
        raise bad_request("address not allowed") from None


def _unavailable(message: str) -> StatusError:
    return StatusError(503, "ServiceUnavailable", message)
