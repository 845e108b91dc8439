"""From bodies to objects: decoding, the schema of a kind, defaults, versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from setpoint.api.machinery import decode, registered
from setpoint.api.machinery.schema.canonical import NOTHING, canonicalise
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError, bad_request, internal_error, invalid, invalid_object
from setpoint.apiserver import repeated_names
from setpoint.apiserver.generic_store.objects import Codec, api_version, ordered
from setpoint.registry.resource import CustomKind, ServedResource
from setpoint.registry.strategy import Object, Strategy

_PROTOBUF = "application/vnd.kubernetes.protobuf"


class Schemas(Protocol):
    """`api.machinery.schema.trees`: the tree of a definition, made when first asked for."""

    def tree(self, definition: str) -> Node: ...


class Bodies:
    """Decodes request bodies for any served resource. What it gives begins with kind and apiVersion and has metadata.

    `trim`: the schemas are of another minor than the strategies, whose defaults may be fields that it does not have.
    """

    def __init__(self, schemas: Schemas | None, *, trim: bool = False) -> None:
        self._schemas = schemas
        self._trim = trim
        self._nodes: dict[str, Node | None] = {}
        self._known: set[tuple[str, str]] = set()

    def know(self, resource: ServedResource) -> None:
        """Remember that this server has a kind: a body of it at the wrong place gets another complaint than an unknown one."""
        for version in resource.versions:
            self._known.add((api_version(resource, version), resource.kind))

    def node(self, resource: ServedResource, version: str) -> Node | None:
        """The schema tree of a kind in a version; None where there is none."""
        if resource.custom is not None:
            return resource.custom.node(version)
        definition = resource.definitions.get(version)
        return self.definition(definition) if definition else None

    def tree(self, resource: ServedResource, version: str) -> Node:
        """The same, for what cannot be done without one. Raises LookupError."""
        found = self.node(resource, version)
        if found is None:
            raise LookupError(f"{resource.kind} {version} has no schema")
        return found

    def definition(self, name: str) -> Node | None:
        """A tree by the name of its definition."""
        if name not in self._nodes:
            try:
                self._nodes[name] = self._schemas.tree(name) if self._schemas is not None else None
            except KeyError:
                self._nodes[name] = None
        return self._nodes[name]

    def decode(
        self, body: bytes, media: str, resource: ServedResource, version: str, validation: str
    ) -> tuple[Object, list[str]]:
        """An object of the URL's kind and version, canonical; and warnings. Raises 400."""
        if resource.custom is not None:
            return self._decode_custom(body, media, resource, resource.custom, version, validation)
        node = self.node(resource, version)
        return self._decode(body, media, node, resource.kind, api_version(resource, version), validation)

    def _decode_custom(
        self, body: bytes, media: str, resource: ServedResource, custom: CustomKind, version: str, validation: str
    ) -> tuple[Object, list[str]]:
        """A custom object: free JSON but for its metadata, pruned by its schema. Raises 400."""
        claims = _claims(body, media)
        if isinstance(claims, dict) and not claims.get("kind"):
            as_json = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS) if decode.is_yaml(media) else body
            why = f"Object 'Kind' is missing in '{as_json.decode('utf-8', 'replace')}' ({decode.summary(body)})"
            raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind}): {why}")
        _check_kind(claims, resource, version)
        _check_claimed_version(claims, api_version(resource, version))
        read = decode.WARN if validation == decode.STRICT else validation
        try:
            obj, complaints = self._decode(body, media, custom.shallow, resource.kind, api_version(resource, version), read)
        except StatusError as error:
            raise StatusError(
                error.code, error.reason, _within_metadata(error.message), error.details, meta=error.meta
            ) from error
        complaints = _in_order(complaints, self._pruned(obj, custom, version))
        if complaints and validation == decode.STRICT:
            text = f"strict decoding error: {', '.join(complaints)}"
            raise bad_request(f'{resource.kind} in version "{version}" cannot be handled as a {resource.kind}: {text}')
        return obj, complaints if validation != decode.IGNORE else []

    @staticmethod
    def _pruned(obj: Object, custom: CustomKind, version: str) -> list[str]:
        """Drop what a custom kind's schema does not know, then what embedded metadata may not have; the complaints about it."""
        from setpoint.api.machinery.schema.pruning import prune

        paths = prune(obj, custom.schemas[version])
        return [f'unknown field "{path}"' for path in paths + custom.settle_embedded(obj)]

    def decode_as(
        self, body: bytes, media: str, definition: str, kind: str, wanted: str, validation: str
    ) -> tuple[Object, list[str]]:
        """A body of another kind than the resource's: a Scale, a Binding, a TokenRequest. Raises 400."""
        return self._decode(body, media, self.definition(definition), kind, wanted, validation)

    def _decode(
        self, body: bytes, media: str, node: Node | None, kind: str, wanted: str, validation: str
    ) -> tuple[Object, list[str]]:
        if media == _PROTOBUF and node is not None:
            body = _from_protobuf(body, node, kind)
            media = "application/json"
        decoded = decode.decode(
            body,
            media,
            node,
            kind=kind,
            api_version=wanted,
            validation=validation,
            known=self._is_known,
            empties=decode.holds_empty_list(body),
        )
        obj = _complete(decoded.obj, kind, wanted)
        if b"managedFields" in body:
            _keep_reset(obj, body)
        return obj, decoded.warnings

    def _is_known(self, wanted: str, kind: str) -> bool:
        """Whether a kind is registered with a version: a resource, a list of one, or what stands with every version."""
        if (wanted, kind) in self._known or (wanted, kind.removesuffix("List")) in self._known:
            return True
        return any(wanted == version for version, _ in self._known) and registered.is_common(wanted, kind)

    def canonical(self, obj: Object, resource: ServedResource, version: str, settled: Mapping[str, Any] = NOTHING) -> Object:
        """A built-in kind's object as its Go struct writes it; changed in place, but for what it shares with `settled`."""
        node = self.node(resource, version)
        if node is None:
            return obj
        return canonicalise(obj, node, settled=settled)

    def patched(
        self, patched: Any, current: Object, patch: bytes, resource: ServedResource, version: str, validation: str
    ) -> tuple[Object, list[str]]:
        """What a JSON or merge patch made of `current`, decoded as Kubernetes does: from its JSON. Raises 422.

        Repeated names are complained about where they are: in the patch.
        """
        custom = resource.custom
        text, node = orjson.dumps(patched), custom.shallow if custom is not None else self.node(resource, version)
        if custom is not None:
            if isinstance(patched, dict) and not patched.get("kind"):
                raise _invalid_result(patched, current, node, patch, f"Object 'Kind' is missing in '{text.decode()}'")
            _check_kind(patched, resource, version)
            _check_version(patched, resource, version)
        kind, wanted = resource.kind, api_version(resource, version)
        expected = decode.Expected(kind, wanted, self._is_known)
        repeated = repeated_names.of_patch(patch) if validation != decode.IGNORE else []
        try:
            empties = decode.holds_empty_list(patch)
            decoded = decode.read(
                text, "application/json", node, validation=decode.WARN, expected=expected, empties=empties, repeats=False
            )
        except decode.DecodeError as error:
            why = _within_metadata(str(error)) if custom is not None else str(error)
            raise _invalid_result(patched, current, node, patch, why) from error
        complaints = repeated + decoded.warnings
        if custom is not None:
            complaints = _in_order(complaints, self._pruned(decoded.obj, custom, version))
        if complaints and validation == decode.STRICT:
            raise _invalid_result(patched, current, node, patch, f"strict decoding error: {', '.join(complaints)}")
        obj = _complete(decoded.obj, kind, wanted)
        if b"managedFields" in patch:
            _keep_reset(obj, text)
        return obj, complaints if validation != decode.IGNORE else []

    def restored(
        self,
        patched: Object,
        patch: Any,
        body: bytes,
        resource: ServedResource,
        version: str,
        validation: str,
        settled: Mapping[str, Any],
    ) -> tuple[Object, list[str]]:
        """What a strategic merge patch made, perhaps with parts of `settled`, which is canonical. Raises 422."""
        from setpoint.api.machinery.patch import restore

        repeated = repeated_names.of_body(body) if validation != decode.IGNORE else []
        try:
            empties = decode.holds_empty_list(body)
            node = self.tree(resource, version)
            decoded = decode.check(
                patched,
                node,
                validation=decode.WARN,
                empties=empties,
                settled=settled,
                judge=lambda: restore.check(patched, patch or {}, node, settled),
            )
        except decode.DecodeError as error:
            raise restore.invalid_patch(patch or {}, str(error)) from error
        complaints = repeated + decoded.warnings
        if complaints and validation == decode.STRICT:
            raise restore.invalid_patch(patch or {}, f"strict decoding error: {', '.join(complaints)}")
        obj = _complete(decoded.obj, resource.kind, api_version(resource, version))
        return obj, complaints if validation != decode.IGNORE else []

    def complete(
        self,
        obj: Object,
        resource: ServedResource,
        version: str,
        strategy: Strategy,
        codec: Codec,
        settled: Mapping[str, Any] = NOTHING,
    ) -> Object:
        """A decoded object in the stored version with its defaults set; `settled` has them, and may share parts with it."""
        if fill := resource.defaults.get(version):
            fill(obj)
        obj = codec.stored(obj, version)
        strategy.default_beside(obj, settled)
        if self._trim and not resource.stored_as:
            return self.canonical(obj, resource, resource.storage_version)
        return obj


def _in_order(complaints: list[str], pruned: list[str]) -> list[str]:
    """Of a custom resource, what is repeated comes first, then what metadata does not know, then what was pruned."""
    unknown = sorted(text for text in complaints if text.startswith("unknown field"))
    return [text for text in complaints if not text.startswith("unknown field")] + unknown + pruned


def _claims(body: bytes, media: str) -> Any:
    """What a body says; nothing where it cannot be read, which is complained about later."""
    found = decode.fast(body)
    if found is not None:
        return found
    try:
        return decode.read(body, media, None, validation=decode.IGNORE).obj
    except decode.DecodeError:
        return None


def _check_kind(obj: Any, resource: ServedResource, version: str) -> None:
    """A custom resource of another kind is an invalid one. Raises 422."""
    if not isinstance(obj, dict) or obj.get("apiVersion") != api_version(resource, version):
        return
    kind = obj.get("kind")
    if isinstance(kind, str) and kind and kind != resource.kind:
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        raise invalid_object(resource.group, kind, str(name or ""), [invalid("kind", kind, f"must be {resource.kind}")])


def _within_metadata(message: str) -> str:
    """Metadata is all of a custom resource that a Go type reads, by itself: its fields' paths begin there."""
    message = message.replace("Go struct field map[string]interface {}.metadata of type", "Go value of type")
    return re.sub(r"(Go struct field \w+\.)metadata\.", r"\1", message, count=1)


def _check_claimed_version(claims: Any, wanted: str) -> None:
    """The reader of custom resources knows no scheme: a body of another version is one whether that exists or not. Raises 400."""
    given = claims.get("apiVersion", "") if isinstance(claims, dict) else None
    if isinstance(given, str) and given != wanted and given.count("/") <= 1:
        raise bad_request(f"the API version in the data ({given}) does not match the expected API version ({wanted})")


def _check_version(obj: Any, resource: ServedResource, version: str) -> None:
    """A patch cannot make a custom resource one of another version, or of none. Raises 422, 500."""
    wanted = api_version(resource, version)
    if isinstance(obj, dict) and not obj.get("apiVersion"):
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    if isinstance(obj, dict) and isinstance(given := obj.get("apiVersion"), str) and given != wanted:
        name = str((obj.get("metadata") or {}).get("name") or "")
        raise invalid_object(resource.group, resource.kind, name, [invalid("apiVersion", given, f"must be {wanted}")])


def _complete(obj: Object, kind: str, wanted: str) -> Object:
    obj = ordered(obj, kind, wanted)
    if not isinstance(obj.get("metadata"), dict):
        obj["metadata"] = {}
    return obj


def _keep_reset(obj: Object, body: bytes) -> None:
    """Keep an empty list of managedFields, which asks to forget all owners, though a Go struct would not write it."""
    try:
        sent = orjson.loads(body)
    except orjson.JSONDecodeError:
        return
    metadata = sent.get("metadata") if isinstance(sent, dict) else None
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        obj["metadata"]["managedFields"] = []


def _from_protobuf(body: bytes, node: Node, kind: str) -> bytes:
    """A protobuf body as JSON. Raises 400."""
    from setpoint.api.machinery import protobuf
    from setpoint.api.machinery.protobuf_wire import ProtobufError

    try:
        obj = protobuf.decode(body, node)
    except ProtobufError as error:
        shown = body[:30].decode("utf-8", "replace") + (" ..." if len(body) > 30 else "")
        raise bad_request(f"the object provided is unrecognized (must be of type {kind}): {error} ({shown})") from error
    return orjson.dumps(obj)


def _invalid_result(patched: Any, current: Object, node: Node | None, patch: bytes, detail: str) -> StatusError:
    """422 for a patch whose result is no object of the kind."""
    from setpoint.api.machinery.patch import spelling

    document = spelling.document(patched, current, node, raw=patch.lstrip().startswith(b"["))
    return invalid_object("", "", "", [invalid("patch", document, detail)])
