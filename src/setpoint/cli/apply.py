"""`setpoint apply`, `diff`, `delete`: from files to the server. Apply is server-side; so is the diff (a dry run)."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from setpoint.api.machinery.status import StatusError
from setpoint.app.options import StartError
from setpoint.cli.output import named, write
from setpoint.cli.session import NAME, Kubeconfig, Namespace, Session, run, target
from setpoint.client.client import refusal
from setpoint.client.transport import Request

Files = Annotated[list[Path], typer.Option("--filename", "-f", help="File, directory, or - for standard input.")]
_APPLY = "application/apply-patch+yaml"


def apply(
    filename: Files,
    namespace: Namespace = "",
    force_conflicts: Annotated[bool, typer.Option("--force-conflicts", help="Take fields over from other managers.")] = False,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Declare objects (server-side apply)."""

    async def work(session: Session) -> None:
        for obj in manifests(filename):
            path, name = await _place(session, obj, namespace)
            before = await _current(session, path)
            after = await _send(session, path, obj, force=force_conflicts, dry_run=False)
            write(f"{name} {_verb(before, after)}")

    run(kubeconfig, work)


def diff(filename: Files, namespace: Namespace = "", kubeconfig: Kubeconfig = None) -> None:
    """Show what apply would change; exit code 1 when it would change anything."""
    changed = False

    async def work(session: Session) -> None:
        nonlocal changed
        for obj in manifests(filename):
            path, name = await _place(session, obj, namespace)
            before = await _current(session, path)
            after = await _send(session, path, obj, force=True, dry_run=True)
            lines = list(difflib.unified_diff(_text(before), _text(after), f"live/{name}", f"declared/{name}", lineterm=""))
            changed = changed or bool(lines)
            for line in lines:
                write(line)

    run(kubeconfig, work)
    sys.exit(1 if changed else 0)


def delete(
    words: Annotated[list[str] | None, typer.Argument(help="RESOURCE NAME … or RESOURCE/NAME …", show_default=False)] = None,
    filename: Annotated[list[Path] | None, typer.Option("--filename", "-f", help="Delete what a file declares.")] = None,
    namespace: Namespace = "",
    grace_period: Annotated[int, typer.Option(help="Seconds that pods get; -1 means their own.")] = -1,
    cascade: Annotated[str, typer.Option(help="background, foreground or orphan.")] = "background",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Delete objects."""

    async def work(session: Session) -> None:
        options: dict[str, Any] = {"propagationPolicy": cascade.capitalize()}
        if grace_period >= 0:
            options["gracePeriodSeconds"] = grace_period
        async for path, name in _targets(session, words, filename, namespace):
            await session.client.raw("DELETE", path, body=options)
            write(f"{name} deleted")

    run(kubeconfig, work)


async def _targets(session: Session, words: list[str] | None, files: list[Path] | None, namespace: str) -> Any:
    for obj in manifests(files or []):
        yield await _place(session, obj, namespace)
    if words:
        word, names = target(words)
        if not names:
            raise StartError("name what to delete")
        resource = await session.find(word)
        for name in names:
            yield resource.path(session.namespace(namespace), name), named(resource, name)


def manifests(files: list[Path]) -> Iterator[dict[str, Any]]:
    """Every object in the files, lists taken apart; raises StartError for what is no manifest."""
    import yaml

    for file in files:
        for source, text in _texts(file):
            try:
                documents = [document for document in yaml.safe_load_all(text) if document is not None]
            except yaml.YAMLError as error:
                raise StartError(f"{source}: {error}") from error
            for document in documents:
                if not isinstance(document, dict) or "kind" not in document or "apiVersion" not in document:
                    raise StartError(f"{source}: not a manifest (kind and apiVersion are needed)")
                yield from document["items"] if document["kind"] == "List" else [document]


def _texts(file: Path) -> Iterator[tuple[str, str]]:
    if str(file) == "-":
        yield "standard input", sys.stdin.read()
        return
    found = sorted(path for path in file.iterdir() if path.suffix in {".yaml", ".yml", ".json"}) if file.is_dir() else [file]
    for path in found:
        try:
            yield str(path), path.read_text()
        except OSError as error:
            raise StartError(f"{path}: {error.strerror}") from error


async def _place(session: Session, obj: dict[str, Any], namespace: str) -> tuple[str, str]:
    resource = await session.find_kind(obj["apiVersion"], obj["kind"])
    metadata = obj.get("metadata") or {}
    if not metadata.get("name"):
        raise StartError(f"a {obj['kind']} without a name cannot be applied")
    space = session.namespace(namespace) if namespace or not metadata.get("namespace") else metadata["namespace"]
    return resource.path(space, metadata["name"]), named(resource, metadata["name"])


async def _current(session: Session, path: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = await session.client.raw("GET", path)
    except StatusError as error:
        if error.code == 404:
            return None
        raise
    return found


async def _send(session: Session, path: str, obj: dict[str, Any], *, force: bool, dry_run: bool) -> dict[str, Any]:
    import orjson

    query = {"fieldManager": NAME, "force": "true" if force else "false", "fieldValidation": "Strict"}
    if dry_run:
        query["dryRun"] = "All"
    answer = await session.transport.call(Request("PATCH", path, query, {"Content-Type": _APPLY}, orjson.dumps(obj)))
    if answer.status >= 400:
        raise refusal(answer.status, answer.body, answer.headers)
    sent: dict[str, Any] = orjson.loads(answer.body)
    return sent


def _verb(before: dict[str, Any] | None, after: dict[str, Any]) -> str:
    if before is None:
        return "created"
    return "unchanged" if before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"] else "configured"


def _text(obj: dict[str, Any] | None) -> list[str]:
    import yaml

    if obj is None:
        return []
    hidden = ("managedFields", "resourceVersion", "generation")
    metadata = {key: value for key, value in obj["metadata"].items() if key not in hidden}
    shown = {**obj, "metadata": metadata}
    return str(yaml.safe_dump(shown, sort_keys=True)).splitlines()
