"""What every command that talks to a server shares: the connection, and finding a resource by the word a person typed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.app.data_dir import DataDir
from setpoint.app.options import StartError, default_data_dir
from setpoint.client.client import Client
from setpoint.client.kubeconfig import Access, KubeconfigError, load
from setpoint.client.transport import TransportError
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock

Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Namespace.  [default: the kubeconfig's]")]
Kubeconfig = Annotated[Path | None, typer.Option("--kubeconfig", help="Kubeconfig.  [default: $KUBECONFIG, then Setpoint's own]")]

NAME = "setpoint-cli"


@dataclass(frozen=True, slots=True)
class Session:
    """A connection for one command."""

    client: Client
    transport: HttpTransport
    access: Access

    def namespace(self, chosen: str) -> str:
        return chosen or self.access.namespace or "default"

    async def find(self, word: str) -> Resource[dict[str, Any]]:
        """The resource that `word` names: plural, singular, short name or kind, with `.group` if wanted. Raises StartError."""
        name, _, group = word.lower().partition(".")
        for listed in await self.client.discovery():
            group_name = listed["metadata"].get("name", "")
            if group and group != group_name:
                continue
            for row in listed["versions"][0]["resources"]:
                if name in _words(row):
                    return _resource(group_name, listed["versions"][0]["version"], row)
        raise StartError(f'the server has no resource "{word}"')

    async def find_kind(self, api_version: str, kind: str) -> Resource[dict[str, Any]]:
        """The resource that serves a manifest's apiVersion and kind. Raises StartError."""
        group, _, version = api_version.rpartition("/")
        for listed in await self.client.discovery():
            if listed["metadata"].get("name", "") != group:
                continue
            for served in listed["versions"]:
                for row in served["resources"]:
                    if served["version"] == version and row["responseKind"]["kind"] == kind:
                        return _resource(group, version, row)
        raise StartError(f'the server has no kind "{kind}" in version "{api_version}"')


def run(kubeconfig: Path | None, work: Callable[[Session], Awaitable[None]]) -> None:
    """Connect, do the work, disconnect. Refusals and lost servers become one line and exit code 1."""
    try:
        asyncio.run(_run(kubeconfig, work))
    except* StatusError as group:
        raise StartError(_first(group)) from None
    except* TransportError as group:
        raise StartError(f"the server cannot be reached: {_first(group)}") from None
    except* KeyboardInterrupt:
        sys.exit(130)


async def _run(kubeconfig: Path | None, work: Callable[[Session], Awaitable[None]]) -> None:
    try:
        access = load(kubeconfig or _default_kubeconfig())
    except KubeconfigError as error:
        raise StartError(str(error)) from error
    transport = HttpTransport(access)
    try:
        await work(Session(Client(transport, user_agent=NAME, clock=RealClock()), transport, access))
    finally:
        await transport.close()


def _default_kubeconfig() -> Path | None:
    """$KUBECONFIG; else our own cluster's, if it has ever run; else the user's."""
    ours = DataDir(default_data_dir()).admin_kubeconfig
    return None if os.environ.get("KUBECONFIG") or not ours.exists() else ours


def _first(group: BaseExceptionGroup[Any]) -> str:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


def _words(row: Mapping[str, Any]) -> set[str]:
    return {row["resource"], row["singularResource"], row["responseKind"]["kind"].lower(), *row.get("shortNames", ())}


def _resource(group: str, version: str, row: Mapping[str, Any]) -> Resource[dict[str, Any]]:
    return Resource(group, version, row["resource"], row["responseKind"]["kind"], row["scope"] == "Namespaced", dict)


def target(words: list[str]) -> tuple[str, list[str]]:
    """`pods a b`, `pods/a` → the resource's word and the names; raises StartError."""
    if not words:
        raise StartError("name a resource: pods, deployment/web …")
    first, slash, _ = words[0].partition("/")
    if slash:
        pairs = [word.partition("/") for word in words]
        if any(resource != first for resource, _, _ in pairs):
            raise StartError("one resource at a time")
        return first, [name for _, _, name in pairs]
    return first, words[1:]
