"""What a mutating webhook's patch makes of an object.

The patch applies to the object in the version that the webhook saw; the result is decoded as a body is (what its kind does not
know is dropped), gets its defaults, and is brought back into the form that the rest of admission works on.
Source: apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from setpoint.api.machinery import decode, gojson
from setpoint.api.machinery.fields.managed import UnreadableFields
from setpoint.api.machinery.fields.managed import decode as decode_owners
from setpoint.api.machinery.patch import json_patch
from setpoint.api.machinery.status import StatusError, bad_request, internal_error
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.review import HookFailed, Verdict
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.registry.admission.matching import Target
from setpoint.registry.strategy import Object

if TYPE_CHECKING:
    from setpoint.apiserver.routing import Served

_JSON = "application/json"
_UNDECODABLE = "received undecodable patch in webhook response"
_INVALID_OWNERS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission "
    "controller; please fix your requests: {}"
)


def operations_of(hook: Hook, verdict: Verdict) -> list[Any]:
    """The operations of a patch, none where there is nothing to do. Raises HookFailed."""
    if not verdict.patch:
        return []
    try:
        found = orjson.loads(verdict.patch)
        json_patch.check(found, strict=False)
    except orjson.JSONDecodeError:
        raise HookFailed(hook, f"{_UNDECODABLE}: {_syntax(verdict.patch)}") from None
    except StatusError as error:
        raise HookFailed(hook, f"{_UNDECODABLE}: {error.message}") from None
    if found and verdict.patch_type != "JSONPatch":
        raise HookFailed(hook, f'unsupported patch type "{verdict.patch_type}"', 400)
    return list(found)


def _syntax(text: bytes) -> str:
    try:
        gojson.parse(text)
    except gojson.SyntaxComplaint as error:
        return str(error)
    return "invalid character in JSON patch"


async def change(hook: Hook, subject: Subject, target: Target, operations: list[Any]) -> bool:
    """Patch the write's object; whether that changed it. Raises StatusError 500."""
    seen = await subject.seen(target)
    if seen.obj is None:
        what = "attempted to modify the object, which is not supported for this operation"
        raise internal_error(f'admission webhook "{hook.name}" {what}')
    before = _text(seen.obj)
    patched = _apply(seen.obj, operations)
    if _text(patched) == before:
        return False
    await take(subject, target, patched)
    subject.changed()
    return _text((await subject.seen(target)).obj) != before


def _text(obj: Any) -> bytes:
    return orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)


def _apply(obj: Object, operations: list[Any]) -> Any:
    at: tuple[Any, Any] = (obj, None)
    try:
        for at in json_patch.stepwise(obj, operations):  # noqa: B007  where it stops is what is told
            pass
    except StatusError:
        raise internal_error(_complaint(at[0], at[1] or {})) from None
    return at[0]


def _complaint(document: Any, operation: dict[str, Any]) -> str:
    """Why an operation does not apply, in the words of the library that Kubernetes uses (evanphx/json-patch)."""
    name, path = operation.get("op"), operation.get("path")
    if name == "test":
        return f"testing value {path} failed: test failed"
    if name not in ("add", "remove", "replace", "move", "copy"):
        return f"Unexpected kind: {name or 'unknown'}"
    if not isinstance(path, str):
        return f"{name} operation failed to decode path: missing value"
    if name == "remove" and _is_there(document, path.rpartition("/")[0]):
        key = path.rpartition("/")[2]
        return f"error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
    if name == "replace" and _is_there(document, path.rpartition("/")[0]):
        return f"replace operation does not apply: doc is missing key: {path}: missing value"
    if name in ("move", "copy"):
        return f"{name} operation does not apply: doc is missing from path: {operation.get('from')}: missing value"
    shown = f'"{path}"' if name in ("add", "remove") else path
    return f"{name} operation does not apply: doc is missing path: {shown}: missing value"


def _is_there(document: Any, path: str) -> bool:
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return False
    return isinstance(document, dict | list)


async def take(subject: Subject, target: Target, patched: Any) -> None:
    """Put a patched object in the place of the write's."""
    request = subject.request
    held = request.obj or {}
    if request.shown is not None or not subject.is_whole():
        if not isinstance(patched, dict):
            raise internal_error("json: cannot unmarshal into Go value")
        if request.shown is not None:
            request.shown.take(held, patched)
        else:
            _replace(held, patched)
        return
    served = subject.served(target)
    if served is None:
        return
    new = _decoded(subject, served, patched)
    own = subject.served(subject.target)
    if own is not None and own is not served:
        new = await _brought(own, new)
    _keep(subject, held, new)
    _replace(held, new)


def _decoded(subject: Subject, served: Served, patched: Any) -> Object:
    resource, bodies = served.resource, subject.pipeline.bodies
    try:
        obj, _ = bodies.decode(orjson.dumps(patched), _JSON, resource, served.version, decode.IGNORE)
        return bodies.complete(obj, resource, served.version, served.store.strategy, served.store.codec)
    except StatusError as error:
        raise internal_error(error.message.partition(f"cannot be handled as a {resource.kind}: ")[2] or error.message) from error


async def _brought(own: Served, obj: Object) -> Object:
    """An object of another version in the form that the write's endpoint works on."""
    codec = own.store.codec
    if obj["apiVersion"] == codec.stored_version:
        return obj
    convert = getattr(codec, "converted", None)
    if convert is not None:
        converted: Object = await convert(obj, codec.stored_version)
        return converted
    stored: Object = codec.stored(obj, own.version) if own.resource.custom else obj
    return stored


def _keep(subject: Subject, held: Object, new: Object) -> None:
    """What a webhook cannot change: what the server sets, the namespace, and owners of fields that mean something."""
    request, metadata, before = subject.request, new["metadata"], held["metadata"]
    if request.operation == "CREATE":
        for name in ("uid", "creationTimestamp"):
            if name in before:
                metadata[name] = before[name]
    if request.generated_name:
        metadata.setdefault("name", before["name"])
    if request.namespace and metadata.setdefault("namespace", request.namespace) != request.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    try:
        decode_owners(metadata.get("managedFields"), trusted=False)
    except UnreadableFields as error:
        request.context.warnings.append(_INVALID_OWNERS.format(error))
        metadata["managedFields"] = before.get("managedFields")
        if metadata["managedFields"] is None:
            del metadata["managedFields"]


def _replace(held: Object, new: Object) -> None:
    """Change an object in place, since others hold it."""
    held.clear()
    held.update(new)
