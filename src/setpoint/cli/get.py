"""`setpoint get`, `events`: what is there."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import typer

from setpoint.api.machinery.resource import Resource
from setpoint.app.options import StartError
from setpoint.cli.output import FORMS, TABLE, named, print_object, print_table, write
from setpoint.cli.session import Kubeconfig, Namespace, Session, run, target
from setpoint.client.transport import Request

Words = Annotated[list[str], typer.Argument(help="RESOURCE [NAME …] or RESOURCE/NAME …", show_default=False)]
Output = Annotated[str, typer.Option("--output", "-o", help="wide, json, yaml or name.")]


def get(
    words: Words,
    namespace: Namespace = "",
    all_namespaces: Annotated[bool, typer.Option("--all-namespaces", "-A")] = False,
    selector: Annotated[str, typer.Option("--selector", "-l", help="Label selector.")] = "",
    field_selector: Annotated[str, typer.Option(help="Field selector.")] = "",
    output: Output = "",
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on with what changes.")] = False,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Print objects."""
    if output not in FORMS:
        raise StartError(f"-o {output}: choose one of {', '.join(filter(None, FORMS))}")

    async def work(session: Session) -> None:
        word, names = target(words)
        resource = await session.find(word)
        space = "" if all_namespaces else session.namespace(namespace)
        query = {key: value for key, value in (("labelSelector", selector), ("fieldSelector", field_selector)) if value}
        if watch:
            await _follow(session, resource, space, query, names, wide=output == "wide")
        elif names:
            for number, name in enumerate(names):
                await _one(session, resource, resource.path(space, name), output, first=not number)
        else:
            await _many(session, resource, resource.path(space), query, output, namespaces=all_namespaces)

    run(kubeconfig, work)


def events(namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """Print a namespace's events, oldest first."""

    async def work(session: Session) -> None:
        found = await session.client.raw("GET", f"/api/v1/namespaces/{session.namespace(namespace)}/events")
        for event in sorted(found["items"], key=_moment):
            about = event["involvedObject"]
            name = f"{about.get('kind', '').lower()}/{about.get('name', '')}"
            write(f"{_moment(event)}  {event.get('type', ''):8} {event.get('reason', ''):20} {name}: {event.get('message', '')}")

    run(kubeconfig, work)


async def _one(session: Session, resource: Resource[Any], path: str, output: str, *, first: bool) -> None:
    if output in ("", "wide"):
        print_table(await session.client.raw("GET", path, accept=TABLE), wide=output == "wide", header=first)
        return
    obj = await session.client.raw("GET", path)
    if output == "name":
        write(named(resource, obj["metadata"]["name"]))
    else:
        print_object(obj, output)


async def _many(
    session: Session, resource: Resource[Any], path: str, query: dict[str, str], output: str, *, namespaces: bool
) -> None:
    if output in ("", "wide"):
        table = await session.client.raw("GET", path, query=query, accept=TABLE)
        if table.get("rows"):
            print_table(table, wide=output == "wide", namespaces=namespaces and resource.namespaced)
        else:
            write("No resources found.")
        return
    found = await session.client.raw("GET", path, query=query)
    if output == "name":
        for item in found["items"]:
            write(named(resource, item["metadata"]["name"]))
    else:
        print_object(found, output)


async def _follow(
    session: Session, resource: Resource[Any], space: str, query: dict[str, str], names: list[str], *, wide: bool
) -> None:
    if names:
        query = {**query, "fieldSelector": f"metadata.name={names[0]}"}
    request = Request("GET", resource.path(space), {**query, "watch": "1"}, {"Accept": TABLE})
    columns: list[Any] = []
    rest = b""
    async with await session.transport.stream(request) as stream:
        if stream.status != 200:
            raise StartError(str(orjson.loads(await stream.read()).get("message")))
        async for chunk in stream:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in filter(None, lines):
                table = orjson.loads(line)["object"]
                first = not columns
                columns = table.get("columnDefinitions") or columns
                print_table({**table, "columnDefinitions": columns}, wide=wide, header=first)


def _moment(event: dict[str, Any]) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"]["creationTimestamp"])
