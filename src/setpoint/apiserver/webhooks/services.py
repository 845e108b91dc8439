"""From a Service to an address. Nobody resolves cluster names here and no proxy stands behind cluster addresses, so a ready
endpoint is asked directly; the cluster address serves where there are none that the store knows of.

Source: apiserver `pkg/util/proxy/proxy.go`.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from setpoint.storage.protocol import NotFound, Store

_SLICES, _SERVICE_NAME = "endpointslices.discovery.k8s.io", "kubernetes.io/service-name"
_SUFFIX = ".svc"


class Unresolved(OSError):
    """No address for a service; says why as Kubernetes does."""


class Address(Struct, frozen=True):
    """Where to connect."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Services:
    """Finds addresses, of several ready endpoints one after the other."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = itertools.count()

    async def find(self, namespace: str, name: str, port: int) -> Address:
        """Where a Service's port is answered. Raises Unresolved."""
        try:
            service = orjson.loads((await self._store.get(f"services/{namespace}/{name}")).value)
        except NotFound:
            raise Unresolved(f'service "{name}" not found') from None
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            return Address(spec.get("externalName") or "", port)
        headless = spec.get("clusterIP") == "None"
        chosen = next((each for each in spec.get("ports") or () if each["port"] == port), None)
        if chosen is None and not headless:
            raise Unresolved(f'no service port {port} found for service "{name}"')
        page = await self._store.list(f"{_SLICES}/{namespace}/")
        slices = [orjson.loads(record.value) for record in page.records]
        ready = list(_endpoints(slices, name, chosen.get("name") or "")) if chosen else []
        if ready:
            return ready[next(self._turn) % len(ready)]
        if headless:
            raise Unresolved('cannot route to service with ClusterIP "None"')
        if not spec.get("clusterIP") or spec.get("selector"):
            raise Unresolved(f'no endpoints available for service "{name}"')
        return Address(spec["clusterIP"], port)


class ServiceResolver:
    """aiohttp's resolver for hosts of services; remembers where it sent to, for errors that say so."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.sent: dict[str, Address] = {}

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[Any]:
        address = self.sent[host] = await self._services.find(*service_of(host), port)
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        return [
            {"hostname": host, "host": place[0], "port": place[1], "family": kind, "proto": proto, "flags": 0}
            for kind, _, proto, _, place in found
        ]

    async def close(self) -> None:
        """Nothing is held."""


def host_of(namespace: str, name: str) -> str:
    """The name that a service's certificate must have."""
    return f"{name}.{namespace}{_SUFFIX}"


def service_of(host: str) -> tuple[str, str]:
    """Namespace and name of the service whose host this is; empty for other hosts."""
    name, _, namespace = host.removesuffix(_SUFFIX).partition(".")
    return (namespace, name) if host.endswith(_SUFFIX) and name and namespace and "." not in namespace else ("", "")


def _endpoints(slices: Sequence[Mapping[str, Any]], service: str, port: str) -> Iterator[Address]:
    for each in slices:
        if (each["metadata"].get("labels") or {}).get(_SERVICE_NAME) != service:
            continue
        numbers = [one["port"] for one in each.get("ports") or () if (one.get("name") or "") == port and one.get("port")]
        for endpoint in each.get("endpoints") or ():
            if numbers and (endpoint.get("conditions") or {}).get("ready") is not False:
                yield Address(endpoint["addresses"][0], numbers[0])
