"""YAML bodies as JSON, as Kubernetes' YAML reader makes it: YAML 1.1 with its own word lists, the first document only.

Words such as `yes` and `off` are booleans, `010` is eight, `12:30` and `2026-01-01` are strings, a repeated key's last value
counts. Aliases are expanded under the reader's own limit, so that a small body cannot become a large one.
"""

from __future__ import annotations

import base64
import binascii
import gc
import re
from typing import Any

import orjson
import yaml

_TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_BOOLEANS = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
_NULLS = {"", "~", "null", "Null", "NULL"}
_float = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?").fullmatch
_decimal = re.compile(r"[-+]?(0|[1-9][0-9]*)").fullmatch
_based = re.compile(r"([-+]?)0(?:([xX])([0-9a-fA-F]+)|([bB])([01]+)|[oO]?([0-7]+))").fullmatch
_STRING = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_BINARY = "tag:yaml.org,2002:binary"
_INFINITE = {".inf": "+Inf", "+.inf": "+Inf", "-.inf": "-Inf", ".nan": "NaN"}
_SPELT = {".nan", ".NaN", ".NAN"} | {f"{sign}{word}" for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")}
_LOW, _HIGH = 400_000, 4_000_000
_LARGE = 64 * 1024  # bytes


class YamlComplaint(ValueError):
    """The body is no YAML, or none that becomes JSON; the message is that of Kubernetes' reader."""


Read = tuple[bytes, list[str]] | YamlComplaint
_known: dict[int, tuple[bytes, Read]] = {}  # by identity: the same bytes may be two requests' bodies


def to_json(body: bytes) -> tuple[bytes, list[str]]:
    """JSON with sorted keys, and the complaints of a strict reader about repeated keys; what is remembered is given again.

    The garbage collector, which would look through all nodes of a large document again and again, waits meanwhile.
    """
    if id(body) in _known:
        found = _known[id(body)][1]
        if isinstance(found, YamlComplaint):
            raise found
        return found
    waits = len(body) > _LARGE and gc.isenabled()
    if waits:
        gc.disable()
    try:
        return _to_json(body)
    except RecursionError as error:
        raise YamlComplaint("yaml: exceeded max depth") from error
    finally:
        if waits:
            gc.enable()


def read(body: bytes) -> Read:
    """What `to_json` makes of a body, or why it makes nothing."""
    try:
        return to_json(body)
    except YamlComplaint as error:
        return error


def remember(body: bytes, found: Read) -> None:
    """What was read is not read again, until it is forgotten."""
    _known[id(body)] = (body, found)


def forget(body: bytes) -> None:
    """Nobody will ask again."""
    _known.pop(id(body), None)


def _to_json(body: bytes) -> tuple[bytes, list[str]]:
    reader = _Reader()
    try:
        node = _first_document(body)
    except yaml.MarkedYAMLError as error:
        raise YamlComplaint(f"yaml: {_unknown_anchor(error, body) or _marked(error)}") from error
    except yaml.YAMLError as error:
        raise YamlComplaint(f"yaml: {getattr(error, 'reason', error)}") from error
    value = reader.value(node) if node is not None else None
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS), reader.repeated
    except TypeError as error:
        raise YamlComplaint("exceeded max depth") from error


def _first_document(body: bytes) -> yaml.Node | None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.compose(body, Loader=loader)
    except yaml.MarkedYAMLError as error:
        if "expected a single document" not in str(error):
            raise
    return next(iter(yaml.compose_all(body, Loader=loader)))


def _unknown_anchor(error: yaml.MarkedYAMLError, body: bytes) -> str:
    """The complaint about an alias that nothing stands for; empty for every other error."""
    if error.problem_mark is None or "undefined alias" not in (error.problem or ""):
        return ""
    line = body.decode(errors="replace").splitlines()[error.problem_mark.line]
    found = re.search(r"\*([\w-]+)", line[error.problem_mark.column :])
    return f"unknown anchor '{found[1] if found else ''}' referenced"


def _marked(error: yaml.MarkedYAMLError) -> str:
    """`line 5: found character that cannot start any token`: lines as libyaml's callers count them."""
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    return (f"line {line}: " if line else "") + (error.problem or "unknown problem parsing YAML content")


class _Reader:
    """Turns a composed document into plain values and counts what aliases make of it."""

    def __init__(self) -> None:
        self.repeated: list[str] = []
        self._seen: set[int] = set()
        self._within: set[int] = set()
        self._count = 0
        self._aliased = 0

    def value(self, node: yaml.Node, *, aliased: bool = False) -> Any:
        self._count += 1
        aliased = aliased or id(node) in self._seen
        self._aliased += aliased
        if self._aliased > 100 and self._count > 1000 and self._aliased / self._count > _allowed(self._count):
            raise YamlComplaint("yaml: document contains excessive aliasing")
        if id(node) in self._within:
            raise YamlComplaint("yaml: anchor value contains itself")
        self._seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return scalar(node)
        self._within.add(id(node))
        found = self._mapping(node, aliased) if isinstance(node, yaml.MappingNode) else self._sequence(node, aliased)
        self._within.discard(id(node))
        return found

    def _sequence(self, node: yaml.Node, aliased: bool) -> list[Any]:
        return [self.value(item, aliased=aliased) for item in node.value]

    def _mapping(self, node: yaml.Node, aliased: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in node.value:
            if key.tag == _MERGE and key.value == "<<":
                for source in reversed(item.value if isinstance(item, yaml.SequenceNode) else [item]):
                    merged.update(self._merged(source, aliased))
                continue
            name = self._key(key, item)
            if name in out and not aliased:
                self.repeated.append(f"line {key.start_mark.line + 1}: key {orjson.dumps(name).decode()} already set in map")
            out[name] = self.value(item, aliased=aliased)
        return merged | out

    def _merged(self, source: yaml.Node, aliased: bool) -> dict[str, Any]:
        if not isinstance(source, yaml.MappingNode):
            raise YamlComplaint("yaml: map merge requires map or sequence of maps as the value")
        found: dict[str, Any] = self.value(source, aliased=aliased)
        return found

    def _key(self, key: yaml.Node, item: yaml.Node) -> str:
        value = self.value(key)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if value is not None:
            raise YamlComplaint(f"yaml: invalid map key: {_go_syntax(value)}")
        raise YamlComplaint(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {_go_syntax(self.value(item))}")


def _go_syntax(value: Any) -> str:
    """A value as Go's `%#v` prints what its YAML reader makes of it."""
    if isinstance(value, dict):
        pairs = (f"{_go_syntax(key)}:{_go_syntax(inner)}" for key, inner in sorted(value.items()))
        return f"map[interface {{}}]interface {{}}{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return orjson.dumps(value).decode()


def _allowed(count: int) -> float:
    """How much of a document may come from aliases: nearly all of a small one, a tenth of a huge one."""
    if count <= _LOW:
        return 0.99
    return 0.10 if count >= _HIGH else 0.99 - 0.89 * (count - _LOW) / (_HIGH - _LOW)


def scalar(node: yaml.ScalarNode) -> Any:
    """The value of a plain word or a quoted text."""
    text = str(node.value)
    if node.tag == _BINARY:
        return _binary(text)
    if not node.tag.startswith("tag:yaml.org,2002:") or (node.tag == _STRING and node.style in {"'", '"', "|", ">"}):
        return text
    if node.tag == _STRING and _explicit(node):
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _numeric(text)


def is_word(text: str) -> bool:
    """Whether a bare word is read as a null, a boolean, a number or the sign of a merge."""
    if text in _NULLS or text in _BOOLEANS or text in _SPELT or text == "<<":
        return True
    if text[0] == ".":
        return _float(text) is not None
    plain = text.replace("_", "") if text[0] in "+-0123456789" else ""
    return bool(plain and (_decimal(plain) or _based(plain) or (_float(plain) and abs(float(plain)) < float("inf"))))


def _binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode(errors="replace")
    except binascii.Error as error:
        raise YamlComplaint("yaml: !!binary value contains invalid base64 data") from error


def _explicit(node: yaml.ScalarNode) -> bool:
    """Whether `!!str` was written: a plain word of another kind would have got another tag by itself."""
    width = node.end_mark.index - node.start_mark.index
    return bool(width > len(node.value))


def _numeric(text: str) -> Any:
    plain = text.replace("_", "")
    if _decimal(plain):
        return _bounded(int(plain))
    if based := _based(plain):
        digits, base = next((based[group], base) for group, base in ((3, 16), (5, 2), (6, 8)) if based[group])
        return _bounded(int(based[1] + digits, base))
    if plain and _float(plain):
        value = float(plain)
        if value in {float("inf"), float("-inf")}:  # beyond a double, and so no number
            return text
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if text.lower() in _INFINITE:
        raise YamlComplaint(f"json: unsupported value: {_INFINITE[text.lower()]}")
    return text


def _bounded(value: int) -> int | float:
    return value if -(2**63) <= value < 2**64 else float(value)
