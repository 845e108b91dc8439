"""Request bodies become objects here, and nowhere else (design, decision 3).

The fast path is a fast reader and one pass along the schema tree (`schema.canonical`). It cannot see repeated names, and
loses the spelling of numbers; so when the text holds more names than the object, or when the pass finds anything unfit, the
body is read again slowly, with exactly the complaints that Kubernetes makes.

What comes out is canonical already: null is absence, and zeros are where a Go struct would write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct, field

from setpoint.api.machinery import gojson
from setpoint.api.machinery.registered import readable
from setpoint.api.machinery.schema import canonical
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.schema.reading import Reader, WrongType, go_quoted, shown
from setpoint.api.machinery.status import StatusError, bad_request

#: query parameter `fieldValidation`: what happens to unknown and repeated fields
IGNORE, WARN, STRICT = "Ignore", "Warn", "Strict"

_ANONYMOUS = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
_MOST_SHOWN = 30


class DecodeError(ValueError):
    """A body that is no object of the kind; the message is Kubernetes' own, without the sentence that surrounds it.

    `recognised` says whether the body's kind could be told, which that sentence depends on.
    """

    def __init__(self, message: str, *, kind: str = "", version: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.version = version

    @property
    def recognised(self) -> bool:
        return bool(self.kind)


class FormerVersion(StatusError):
    """A body of the right kind in a version that can be read but is not the URL's."""

    def __init__(self, given: str, wanted: str) -> None:
        text = f"the API version in the data ({given}) does not match the expected API version ({wanted})"
        super().__init__(400, "BadRequest", text)
        self.given = given


class Decoded(Struct, frozen=True):
    """An object and the warnings about its text (`unknown field "spec.x"`)."""

    obj: dict[str, Any]
    warnings: list[str] = field(default_factory=list)


def decode(
    body: bytes,
    media_type: str,
    node: Node | None,
    *,
    kind: str,
    api_version: str,
    validation: str = WARN,
    known: Callable[[str, str], bool] | None = None,
    empties: bool = False,
) -> Decoded:
    """The object of `kind` and `api_version` in a body, with both filled in.

    `empties` keeps empty lists in fields that are always written: ownership tells them from null, the store does not.
    `known(api_version, kind)` says whether this server has a kind at all; it decides only which complaint a body of another kind
    gets. Raises StatusError 400.
    """
    expected = Expected(kind, api_version, known)
    try:
        try:
            return read(body, media_type, node, validation=validation, expected=expected, empties=empties)
        except FormerVersion as error:
            error.warnings = _former_complaints(body, media_type, node, Expected(kind, error.given, known), validation)
            raise
    except DecodeError as error:
        if error.recognised:
            message = f"{error.kind} in version {go_quoted(error.version)} cannot be handled as a {kind}: {error}"
        else:
            message = f"the object provided is unrecognized (must be of type {kind}): {error} ({summary(body)})"
        raise bad_request(message) from error


def _former_complaints(body: bytes, media_type: str, node: Node | None, expected: Expected, validation: str) -> Sequence[str]:
    """What a body of a former version holds that this version does not know. Raises DecodeError."""
    from setpoint.api.machinery.former import of_version

    former = None if node is None else of_version(node, expected.api_version, expected.kind)
    return read(body, media_type, former, validation=validation, expected=expected).warnings


class Expected(Struct, frozen=True):
    """The kind that a body should be of: what it does not say about itself is filled in from here."""

    kind: str
    api_version: str
    known: Callable[[str, str], bool] | None = None

    def settle(self, obj: dict[str, Any]) -> tuple[str, str]:
        """Kind and version that the body claims; raises DecodeError for another kind."""
        kind = obj.get("kind") or self.kind
        given = obj.get("apiVersion") or self.api_version
        if given.count("/") > 1:
            raise DecodeError(f"unexpected GroupVersion string: {given}")
        group, _, version = given.rpartition("/")
        api_version = f"{group}/{version}" if group else version
        if not version and group in ("", _group(self.api_version)):  # as good as not given
            api_version = self.api_version
            version = api_version.rpartition("/")[2]
        if kind == self.kind and api_version == self.api_version:
            return kind, version
        if not (self.known and self.known(api_version, kind)) and not readable(api_version, kind):
            why = f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
            raise DecodeError(why, kind=kind, version=version)
        if kind == self.kind and _group(api_version) == _group(self.api_version):
            raise FormerVersion(api_version, self.api_version)
        why = f"converting ({version}.{kind}) to ({internal_package(self.api_version)}.{self.kind}): unknown conversion"
        raise DecodeError(why, kind=kind, version=version)


def holds_empty_list(body: bytes) -> bool:
    """Whether an empty list may stand in a body."""
    return b"[" in body and (b"[]" in body or b"[ ]" in body)


def read(
    body: bytes,
    media_type: str,
    node: Node | None,
    *,
    validation: str = WARN,
    expected: Expected | None = None,
    empties: bool = False,
    repeats: bool = True,
) -> Decoded:
    """As `decode`, for callers with a sentence of their own around the complaint (options, patches). Raises DecodeError.

    `repeats`: a name may stand twice, which it does not in what this server has written itself.
    """
    obj = fast(body, repeats=repeats)  # also for YAML, of which JSON is a part that the fast reader knows as well
    if obj is None:
        slowly = _read_yaml if is_yaml(media_type) else _read_slowly
        return slowly(body, node, validation, expected, empties=empties)
    if expected:
        expected.settle(obj)
    try:
        _settle_names(obj, expected)
        return Decoded(_fitted(obj, node, empties=empties))
    except ValueError:  # the slow reader says which complaint comes first
        return _read_slowly(body, node, validation, expected, empties=empties)


def _read_yaml(body: bytes, node: Node | None, validation: str, expected: Expected | None, *, empties: bool) -> Decoded:
    """Options and patches are unmarshalled by a YAML library, which has sentences of its own; objects are converted first."""
    from setpoint.api.machinery.yaml_bodies import YamlComplaint, to_json

    try:
        text, repeated = to_json(body)
    except YamlComplaint as error:
        raise DecodeError(f"{'' if expected else 'error converting YAML to JSON: '}{error}") from error
    try:
        if repeated:
            return _read_slowly(text, node, validation, expected, repeated, empties=empties)
        return read(text, "application/json", node, validation=validation, expected=expected, empties=empties, repeats=False)
    except DecodeError as error:
        if expected:
            raise
        raise DecodeError(f"error unmarshaling JSON: while decoding JSON: {error}") from error


def check(
    obj: dict[str, Any],
    node: Node | None,
    *,
    validation: str = WARN,
    empties: bool = False,
    settled: Mapping[str, Any] = canonical.NOTHING,
    judge: Callable[[], None] | None = None,
) -> Decoded:
    """An object that a strategic merge patch or an apply has made, judged as if it had come as a body. Raises DecodeError.

    What it shares with `settled`, an object in canonical form, needs no judgement. Its fields have no order of their own:
    Kubernetes sorts the complaints. A whole number may have been written with a point, or be too large for its field. `judge` has
    the first word about what does not fit, and may raise an error of its own.
    """
    try:
        return Decoded(_fitted(obj, node, empties=empties, settled=settled))
    except ValueError:
        if judge is not None:
            judge()
        found = _again(orjson.dumps(_cut(go_numbers(obj), node)), node, empties=empties)
    complaints = sorted(found.warnings)
    if complaints and validation == STRICT:
        raise DecodeError(f"strict decoding error: {', '.join(complaints)}")
    return Decoded(found.obj, complaints if validation != IGNORE else [])


def _cut(value: Any, node: Node | None) -> Any:
    """Integers cut to the width of their fields, as Go converts one into the other."""
    if node is None:
        return value
    match node.kind:
        case "object" if isinstance(value, dict):
            return {name: _cut(found, node.fields.get(name)) for name, found in value.items()}
        case "map" if isinstance(value, dict):
            return {name: _cut(found, node.items) for name, found in value.items()}
        case "list" if isinstance(value, list):
            return [_cut(found, node.items) for found in value]
        case "integer" if type(value) is int and node.format == "int32":
            return (value + 2**31) % 2**32 - 2**31
        case _:
            return value


def _again(text: bytes, node: Node | None, *, empties: bool) -> Decoded:
    try:
        return _read_slowly(text, node, WARN, None, empties=empties)
    except DecodeError as error:
        where = "error decoding from json: " if str(error).startswith("illegal base64") else ""
        raise DecodeError(f"{where}{error}") from error


def fast(body: bytes, *, repeats: bool = True) -> dict[str, Any] | None:
    """The object, or None where only the slow reader can tell what the body is."""
    try:
        obj = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if type(obj) is not dict or type(obj.get("kind", "")) is not str or type(obj.get("apiVersion", "")) is not str:
        return None
    if not repeats:
        return obj
    try:
        again = orjson.dumps(obj)
    except (TypeError, ValueError):
        return None
    if again == body:  # as our own components and most programs write it: each name once
        return obj
    # every name stands before a colon; text in strings has its quotes escaped. What could confuse the count is read slowly
    if b'\\\\"' in body or b" :" in body or b"\n:" in body or b"\t:" in body or b"\r:" in body:
        return None
    return obj if _names(body) == _names(again) else None


def _names(text: bytes) -> int:
    names = text.count(b'":')
    return names - text.count(b'\\":') if b"\\" in text else names


def _fitted(
    obj: dict[str, Any], node: Node | None, *, empties: bool, settled: Mapping[str, Any] = canonical.NOTHING
) -> dict[str, Any]:
    if node is None:
        return obj
    fitted = canonical.fit(obj, node, empties=empties, settled=settled)
    if not node.builtin:
        go_numbers(fitted)
    return fitted


def go_numbers(value: Any) -> Any:
    """Free JSON as Go holds it: integers beyond int64 are doubles, whole doubles are written without a point."""
    if type(value) is dict:
        for name, found in value.items():
            if type(found) is not str:
                value[name] = go_numbers(found)
    elif type(value) is list:
        for index, found in enumerate(value):
            value[index] = go_numbers(found)
    elif type(value) is float:
        return int(value) if value.is_integer() and abs(value) < 2**63 else value
    elif type(value) is int and not -(2**63) <= value < 2**63:
        return float(value)
    return value


def _read_slowly(
    body: bytes,
    node: Node | None,
    validation: str,
    expected: Expected | None,
    repeated: Sequence[str] = (),
    *,
    empties: bool = False,
) -> Decoded:
    value = _interpret(body, expected)
    kind, version = ("", "")
    if expected:
        kind, version = expected.settle({name: found for name, found in value if name in {"kind", "apiVersion"}})
    reader = Reader(node or Node("object", builtin=False))
    try:
        obj = reader.read(value)
        _settle_names(obj, expected)
        obj = canonical.canonicalise(obj, node, empties=empties) if node is not None else obj
    except (ValueError, OverflowError) as error:
        raise DecodeError(str(error), kind=kind, version=version) from error
    if validation == STRICT and (repeated or reader.complaints):
        listed = ["yaml: unmarshal errors:" + "".join(f"\n  {text}" for text in repeated)] if repeated else []
        raise DecodeError(f"strict decoding error: {', '.join(listed + reader.complaints)}", kind=kind, version=version)
    return Decoded(obj, [*repeated, *reader.complaints] if validation != IGNORE else [])


def _interpret(body: bytes, expected: Expected | None) -> gojson.Members:
    """The body as an object whose kind can be told; null is an empty one."""
    before = "couldn't get version/kind; json parse error: " if expected else ""
    try:
        value = gojson.parse(body)
    except gojson.SyntaxComplaint as error:
        raise DecodeError(f"{before}{error}") from error
    if value is None:
        return gojson.Members()
    if not isinstance(value, gojson.Members):
        wrong = WrongType(shown(value), _ANONYMOUS if expected else "map[string]interface {}", "", "")
        raise DecodeError(f"{before}{wrong}")
    for name, found in value:
        if expected and name in {"kind", "apiVersion"} and found is not None and shown(found) != "string":
            raise DecodeError(f"{before}{WrongType(shown(found), 'string', '', name)}")
    return value


def _settle_names(obj: dict[str, Any], expected: Expected | None) -> None:
    if expected:
        obj["kind"] = expected.kind
        obj["apiVersion"] = expected.api_version


def internal_package(api_version: str) -> str:
    """The Go package of a group's internal types: `core`, `apps`, `rbac`; events.k8s.io shares core's."""
    group = _group(api_version)
    return "core" if group in {"", "events.k8s.io"} else group.partition(".")[0]


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def is_yaml(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() in {"application/yaml", "application/apply-patch+yaml"}


def summary(body: bytes) -> str:
    """The beginning of a body that nobody understands."""
    if not body:
        return "<empty>"
    cut = " ..." if len(body) > _MOST_SHOWN else ""
    part = body[:_MOST_SHOWN]
    return (part.decode("utf-8", "replace") if part.startswith(b"{") else part.hex()) + cut
