"""`setpoint scale`, `rollout`, `wait`: what workloads are told and asked."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

import typer

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.app.options import StartError
from setpoint.cli.output import named, print_rows, write
from setpoint.cli.session import Kubeconfig, Namespace, Session, run, target
from setpoint.client.client import Client
from setpoint.kit.clock import rfc3339

Words = Annotated[list[str], typer.Argument(help="RESOURCE/NAME", show_default=False)]
Seconds = Annotated[float, typer.Option("--timeout", help="Seconds to wait at the most.")]
_REVISION = "deployment.kubernetes.io/revision"
_PAUSE = 0.1

rollout = typer.Typer(help="Follow and steer the rollout of a Deployment.", no_args_is_help=True)


def scale(
    words: Words,
    replicas: Annotated[int, typer.Option(help="How many.")],
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Set the number of replicas."""

    async def work(session: Session) -> None:
        resource, name = await _one(session, words)
        body = {"spec": {"replicas": replicas}}
        await session.client.patch(resource, name, body, session.namespace(namespace), subresource="scale")
        write(f"{named(resource, name)} scaled")

    run(kubeconfig, work)


@rollout.command()
def status(words: Words, namespace: Namespace = "", timeout: Seconds = 600, kubeconfig: Kubeconfig = None) -> None:
    """Wait until the newest revision is all that runs."""

    async def work(session: Session) -> None:
        resource, name = await _one(session, words)
        said, deadline = "", time.monotonic() + timeout
        while time.monotonic() < deadline:
            line, done = progress(await session.client.get(resource, name, session.namespace(namespace)))
            if line != said:
                write(line)
                said = line
            if done:
                return
            await asyncio.sleep(_PAUSE)
        raise StartError(f"not finished after {timeout:.0f} s")

    run(kubeconfig, work)


def progress(deployment: dict[str, Any]) -> tuple[str, bool]:
    """How far a Deployment's rollout is, in kubectl's words, and whether it is done; raises StartError when it has failed."""
    name, held = deployment["metadata"]["name"], deployment.get("status", {})
    if held.get("observedGeneration", 0) < deployment["metadata"].get("generation", 0):
        return "Waiting for deployment spec update to be observed...", False
    if any(
        row["type"] == "Progressing" and row.get("reason") == "ProgressDeadlineExceeded" for row in held.get("conditions", ())
    ):
        raise StartError(f'deployment "{name}" exceeded its progress deadline')
    wanted = deployment["spec"].get("replicas", 1)
    updated, total, available = (held.get(key, 0) for key in ("updatedReplicas", "replicas", "availableReplicas"))
    waiting = f'Waiting for deployment "{name}" rollout to finish: '
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated...", False
    if total > updated:
        return f"{waiting}{total - updated} old replicas are pending termination...", False
    if available < updated:
        return f"{waiting}{available} of {updated} updated replicas are available...", False
    return f'deployment "{name}" successfully rolled out', True


@rollout.command()
def restart(words: Words, namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """Replace every pod, in rolling fashion."""
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(time.time())}
    _patch(words, namespace, kubeconfig, {"spec": {"template": {"metadata": {"annotations": stamp}}}}, "restarted")


@rollout.command()
def pause(words: Words, namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """Hold the rollout where it is."""
    _patch(words, namespace, kubeconfig, {"spec": {"paused": True}}, "paused")


@rollout.command()
def resume(words: Words, namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """Go on with a paused rollout."""
    _patch(words, namespace, kubeconfig, {"spec": {"paused": None}}, "resumed")


@rollout.command()
def history(words: Words, namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """List the revisions that can be gone back to."""

    async def work(session: Session) -> None:
        _, name = await _one(session, words)
        rows = [
            [str(number), item["metadata"].get("annotations", {}).get("kubernetes.io/change-cause", "<none>")]
            for number, item in await _revisions(session.client, session.namespace(namespace), name)
        ]
        print_rows(["REVISION", "CHANGE-CAUSE"], rows)

    run(kubeconfig, work)


@rollout.command()
def undo(
    words: Words,
    to_revision: Annotated[int, typer.Option(help="Which revision; 0 means the one before.")] = 0,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Go back to an earlier revision."""

    async def work(session: Session) -> None:
        resource, name = await _one(session, words)
        space = session.namespace(namespace)
        found = await _revisions(session.client, space, name)
        chosen = [item for number, item in found if number == to_revision] if to_revision else [item for _, item in found[-2:-1]]
        if not chosen:
            raise StartError("no such revision to go back to")
        template = chosen[0]["spec"]["template"]
        template["metadata"]["labels"].pop("pod-template-hash", None)
        patch = [{"op": "replace", "path": "/spec/template", "value": template}]
        await session.client.patch(resource, name, patch, space, kind="json")
        write(f"{named(resource, name)} rolled back")

    run(kubeconfig, work)


def wait(
    words: Words,
    condition: Annotated[str, typer.Option("--for", help="condition=TYPE[=STATUS] or delete.")],
    namespace: Namespace = "",
    timeout: Seconds = 30,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Wait until an object has a condition, or is gone."""

    async def work(session: Session) -> None:
        resource, name = await _one(session, words)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if await _holds(session, resource, name, session.namespace(namespace), condition):
                write(f"{named(resource, name)} condition met")
                return
            await asyncio.sleep(_PAUSE)
        raise StartError(f"timed out waiting for {condition} on {named(resource, name)}")

    run(kubeconfig, work)


async def _holds(session: Session, resource: Resource[dict[str, Any]], name: str, space: str, condition: str) -> bool:
    try:
        obj = await session.client.get(resource, name, space)
    except StatusError as error:
        if error.code == 404 and condition == "delete":
            return True
        raise
    kind, _, wanted = condition.removeprefix("condition=").partition("=")
    rows = obj.get("status", {}).get("conditions", ())
    return any(row["type"].lower() == kind.lower() and row["status"].lower() == (wanted or "true").lower() for row in rows)


async def _one(session: Session, words: list[str]) -> tuple[Resource[dict[str, Any]], str]:
    word, names = target(words)
    if len(names) != 1:
        raise StartError("name one object: deployment/web")
    return await session.find(word), names[0]


def _patch(words: list[str], namespace: str, kubeconfig: Any, patch: dict[str, Any], done: str) -> None:
    async def work(session: Session) -> None:
        resource, name = await _one(session, words)
        await session.client.patch(resource, name, patch, session.namespace(namespace))
        write(f"{named(resource, name)} {done}")

    run(kubeconfig, work)


async def _revisions(client: Client, namespace: str, name: str) -> list[tuple[int, dict[str, Any]]]:
    """A Deployment's ReplicaSets by revision, oldest first."""
    found = await client.raw("GET", f"/apis/apps/v1/namespaces/{namespace}/replicasets")
    owned = [
        item
        for item in found["items"]
        if any(owner["kind"] == "Deployment" and owner["name"] == name for owner in item["metadata"].get("ownerReferences", ()))
    ]
    return sorted(
        ((int(item["metadata"].get("annotations", {}).get(_REVISION, 0)), item) for item in owned), key=lambda row: row[0]
    )
