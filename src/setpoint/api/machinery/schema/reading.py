"""A parsed body read along a schema tree, with the complaints that a Go struct's decoder makes.

Used where the fast pass (`schema.canonical`) found something it does not like. Rules, from the JSON decoder of Kubernetes:

- The first wrong type is reported (`json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool`):
  the struct is the innermost one, the path has neither indices nor map keys; reading goes on and other complaints wait behind it.
- Types that read themselves (quantities, times, int-or-string) end the reading at once with their own complaint.
- Unknown and repeated names are gathered in the order of the text, with full paths, each once, at most 100.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery import quantity
from setpoint.api.machinery.gojson import Members, Number
from setpoint.api.machinery.schema import times
from setpoint.api.machinery.schema.node import Node

_MOST_COMPLAINTS = 100
_INT_OR_STRING = "int32"


class WrongType(ValueError):
    """What stands there does not fit the field; the message is Go's."""

    def __init__(self, value: str, go: str, struct: str, path: str) -> None:
        place = f"Go struct field {struct}.{path}" if struct or path else "Go value"
        super().__init__(f"json: cannot unmarshal {value} into {place} of type {go}")


class Reader:
    """One reading: `read(value)` gives the plain object; then `complaints` holds unknown and repeated fields."""

    def __init__(self, node: Node) -> None:
        self._root = node
        self.complaints: list[str] = []
        self._first: ValueError | None = None
        self._struct = ""
        self._names: list[str] = []
        self._place: list[str] = []

    def read(self, value: Any) -> Any:
        """The value with the fields that the tree knows. Raises ValueError with Go's message."""
        plain = self._read(self._root, value)
        if self._first is not None:
            raise self._first
        return plain

    def _read(self, node: Node, value: Any) -> Any:
        if value is None and node.kind != "any":
            return None
        return _READERS[node.kind](self, node, value)

    def _wrong(self, value: Any, go: str, spelled: str = "") -> WrongType:
        return WrongType(spelled or shown(value), go, self._struct, ".".join(self._names))

    def _save(self, error: ValueError) -> None:
        if self._first is None:
            self._first = error

    def _complain(self, what: str, name: str) -> None:
        path = "".join(self._place) + "." + name if self._place else name
        text = f"{what} field {go_quoted(path.removeprefix('.'))}"
        if len(self.complaints) < _MOST_COMPLAINTS and text not in self.complaints:
            self.complaints.append(text)

    def object(self, node: Node, value: Any) -> Any:
        if not isinstance(value, Members):
            return self._save(self._wrong(value, node.go))
        out: dict[str, Any] = {}
        outer = self._struct
        for name, found in value:
            field = node.fields.get(name)
            if field is None:
                self._unknown(node, name, found, out)
                continue
            if name in out:
                self._complain("duplicate", name)
            self._names.append(name)
            self._place.append("." + name)
            self._struct = node.go.rpartition(".")[2]
            read = self._read(field, found)
            self._struct = outer
            self._names.pop()
            self._place.pop()
            out[name] = _merged(field, out.get(name), read)
        return out

    def _unknown(self, node: Node, name: str, value: Any, out: dict[str, Any]) -> None:
        """A custom resource keeps what its schema does not know until pruning; a struct drops it."""
        if node.builtin:
            self._complain("unknown", name)
            return
        if name in out:
            self._complain("duplicate", name)
        self._place.append("." + name)
        out[name] = self.free(value)
        self._place.pop()

    def map(self, node: Node, value: Any) -> Any:
        if not isinstance(value, Members):
            return self._save(self._wrong(value, node.go))
        items = node.items
        out: dict[str, Any] = {}
        for name, found in value:
            if name in out:
                self._complain("duplicate", name)
            self._place.append("." + name)
            out[name] = self._read(items, found) if items else None
            self._place.pop()
        return out

    def list(self, node: Node, value: Any) -> Any:
        if isinstance(value, Members) or not isinstance(value, list):
            return self._save(self._wrong(value, node.go))
        out = []
        for index, found in enumerate(value):
            self._place.append(f"[{index}]")
            out.append(self._read(node.items, found) if node.items else None)
            self._place.pop()
        return out

    def string(self, node: Node, value: Any) -> Any:
        if isinstance(value, str) and not isinstance(value, Number):
            return value
        return self._save(self._wrong(value, node.go))

    def boolean(self, node: Node, value: Any) -> Any:
        return value if isinstance(value, bool) else self._save(self._wrong(value, node.go))

    def integer(self, node: Node, value: Any) -> Any:
        if not isinstance(value, Number):
            return self._save(self._wrong(value, node.go))
        found = integer(value, 32 if node.format == "int32" else 64)
        return found if found is not None else self._save(self._wrong(value, node.go, f"number {value}"))

    def number(self, node: Node, value: Any) -> Any:
        if not isinstance(value, Number):
            return self._save(self._wrong(value, node.go))
        try:
            return value.plain()
        except OverflowError:
            return self._save(self._wrong(value, node.go, f"number {value}"))

    def bytes(self, node: Node, value: Any) -> Any:
        if not isinstance(value, str) or isinstance(value, Number):
            return self._save(self._wrong(value, node.go))
        complaint = base64_complaint(value)
        return self._save(ValueError(complaint)) if complaint else value

    def quantity(self, node: Node, value: Any) -> str:
        text = value.strip() if isinstance(value, str) else "{}"
        quantity.canonical(text)
        return text

    def int_or_string(self, node: Node, value: Any) -> Any:
        if isinstance(value, Number):
            found = integer(value, 32)
            if found is None:
                raise self._wrong(value, _INT_OR_STRING, f"number {value}")
            return found
        if isinstance(value, str):
            return value
        raise self._wrong(value, _INT_OR_STRING)

    def time(self, node: Node, value: Any) -> str:
        if not isinstance(value, str) or isinstance(value, Number):
            raise self._wrong(value, "string")
        times.check(value, micro=node.kind == "micro-time")
        return value

    def any(self, node: Node, value: Any) -> Any:
        """Free JSON. Types that read themselves report no repeated names."""
        if node.builtin and not node.choices:
            return Reader(node).free(value)
        if isinstance(value, Members) and "object" in node.choices:
            return self._alone(node.choices["object"], value)
        if isinstance(value, list) and "list" in node.choices:
            return self._alone(node.choices["list"], value)
        if node.format == "B" and not isinstance(value, (bool, type(None))):
            return self._save(ValueError("boolean or JSON schema expected"))
        return self.free(value)

    def _alone(self, node: Node, value: Any) -> Any:
        """A part that reads itself: its wrong types count, its unknown names do not."""
        return Reader(node).read(value)

    def free(self, value: Any) -> Any:
        if isinstance(value, Members):
            out: dict[str, Any] = {}
            for name, found in value:
                if name in out:
                    self._complain("duplicate", name)
                self._place.append("." + name)
                out[name] = self.free(found)
                self._place.pop()
            return out
        if isinstance(value, list):
            return [self._free_item(index, found) for index, found in enumerate(value)]
        return value.plain() if isinstance(value, Number) else value

    def _free_item(self, index: int, value: Any) -> Any:
        self._place.append(f"[{index}]")
        found = self.free(value)
        self._place.pop()
        return found


_READERS: dict[str, Callable[[Reader, Node, Any], Any]] = {
    "object": Reader.object,
    "map": Reader.map,
    "list": Reader.list,
    "string": Reader.string,
    "boolean": Reader.boolean,
    "integer": Reader.integer,
    "number": Reader.number,
    "bytes": Reader.bytes,
    "quantity": Reader.quantity,
    "int-or-string": Reader.int_or_string,
    "time": Reader.time,
    "micro-time": Reader.time,
    "any": Reader.any,
}


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Members) else "array"


def _merged(node: Node, before: Any, after: Any) -> Any:
    """A repeated struct or map is read over the first one, as Go does; anything else replaces it."""
    if node.kind in {"object", "map"} and isinstance(before, dict) and isinstance(after, dict):
        return {**before, **after}
    return after


def integer(number: Number, bits: int) -> int | None:
    """The integer that `number` spells, if it is one of that many bits: `1.0` and `1e3` are none."""
    if not number.lstrip("-").isdigit():
        return None
    limit = 1 << (bits - 1)
    value = int(number) if len(number) < 21 else limit
    return value if -limit <= value < limit else None


def base64_complaint(text: str) -> str:
    """What Go says of text that is no base64; "" if it is. Newlines are ignored."""
    clean = text.replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(clean, validate=True)
    except (binascii.Error, ValueError):
        return f"illegal base64 data at input byte {_first_illegal(text)}"
    return ""


def _first_illegal(text: str) -> int:
    """The offset that Go names: the first byte that cannot be, or where padding is wrong or missing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    count = 0
    for index, char in enumerate(text):
        if char in "\r\n":
            continue
        if char == "=":
            return _padding(text, index, count)
        if char not in alphabet:
            return index
        count += 1
    return len(text) - count % 4


def _padding(text: str, index: int, count: int) -> int:
    """Padding may stand after two or three characters of a group, and must end the text."""
    if count % 4 < 2:
        return index
    rest = [at for at in range(index + 1, len(text)) if text[at] not in "\r\n"]
    if count % 4 == 2:
        if not rest:
            return len(text)
        if text[rest[0]] != "=":
            return rest[0]
        rest = rest[1:]
    return rest[0] if rest else index


def go_quoted(text: str) -> str:
    """A text as Go's `%q` writes it."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char.isprintable():
            out.append(char)
        else:
            out.append({"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or _go_escape(ord(char)))
    return '"' + "".join(out) + '"'


def _go_escape(code: int) -> str:
    named = {7: "\\a", 8: "\\b", 11: "\\v", 12: "\\f"}
    if code in named:
        return named[code]
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
