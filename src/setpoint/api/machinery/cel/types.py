"""The types of CEL, and when a value of one may stand where another is wanted.

Source: the CEL specification's chapter on gradual type checking; the wording of types is cel-go's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct


class Type(Struct, frozen=True):
    """`name` is `int`, `list`, `map`, `object`, `param`, … ; an object's `scope` tells it from other objects."""

    name: str
    params: tuple[Type, ...] = ()
    scope: Any = None

    def __str__(self) -> str:
        if self.name in {"object", "param"}:
            return str(self.scope)
        name = "optional_type" if self.name == "optional" else self.name
        return f"{name}({', '.join(map(str, self.params))})" if self.params else name


DYN = Type("dyn")
ERROR = Type("*error*")
INT, UINT, DOUBLE, BOOL = Type("int"), Type("uint"), Type("double"), Type("bool")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
TIMESTAMP, DURATION = Type("timestamp"), Type("duration")


class ObjectScope:
    """The fields of an object type, by the names that expressions use, and its name in complaints."""

    __slots__ = ("fields", "name", "nulls", "written")

    def __init__(
        self, name: str, fields: Mapping[str, Type], written: Mapping[str, str] | None = None, *, nulls: bool = False
    ) -> None:
        self.name = name
        self.fields = fields
        #: the field's name in JSON, where it differs from that in expressions
        self.written = written or {}
        #: whether a field that is null is there nevertheless
        self.nulls = nulls

    def __str__(self) -> str:
        return self.name


def object_type(scope: ObjectScope) -> Type:
    return Type("object", (), scope)


def list_of(item: Type) -> Type:
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional", (value,))


def type_of(value: Type) -> Type:
    return Type("type", (value,))


def variable(number: int) -> Type:
    """A type still unknown, of an empty list or of a generic function's argument; the number tells it from others."""
    return Type("param", (), f"_var{number}")


class Mappings:
    """What the unknown types of one expression were found to be."""

    def __init__(self) -> None:
        self._known: dict[Type, Type] = {}

    def resolve(self, type: Type) -> Type:
        found = type
        while found.name == "param" and found in self._known:
            found = self._known[found]
        return found

    def applied(self, type: Type, *, free: Type | None = None) -> Type:
        """`type` with all that is known put in; what is still unknown becomes `free`, if given."""
        known = self.resolve(type)
        if known.name == "param" and free is not None:
            return free
        if not known.params:
            return known
        return Type(known.name, tuple(self.applied(param, free=free) for param in known.params), known.scope)

    def assignable(self, wanted: list[Type], given: list[Type]) -> bool:
        """Whether all arguments fit their parameters; what was learnt stays only if they do."""
        before = dict(self._known)
        if all(self._fits(one, other) for one, other in zip(wanted, given, strict=True)):
            return True
        self._known = before
        return False

    def joined(self, one: Type, other: Type) -> Type:
        """A type for both: the more general, or dyn."""
        if self.assignable([one], [other]):
            return other if self.resolve(one).name == "null" else _more_general(one, other)
        return one if self.assignable([other], [one]) else DYN

    def _fits(self, wanted: Type, given: Type) -> bool:
        if given.name == "param":
            known = given in self._known
            if self._substitutes(wanted, given):
                return True
            if known:
                return False
        if wanted.name == "param":
            return self._substitutes(given, wanted)
        if wanted == given or self._is_dyn(wanted) or self._is_dyn(given):
            return True
        if wanted.name == "null" or given.name == "null":
            return _nullable(given if wanted.name == "null" else wanted)
        if wanted.name != given.name or wanted.scope is not given.scope:
            return False
        if wanted.name == "type":
            return True
        return all(self._fits(one, other) for one, other in zip(wanted.params, given.params, strict=True))

    def _substitutes(self, type: Type, param: Type) -> bool:
        """Whether `type` may stand for `param`; what the parameter is known as only gets more general."""
        if type == param:
            return True
        known = self._known.get(param)
        if known is None:
            return self._bind(param, type)
        if not self._fits(type, known):
            return False
        self._bind(param, _more_general(type, known))
        return True

    def _bind(self, param: Type, type: Type) -> bool:
        if self._occurs(param, type):
            return False
        self._known[param] = type
        return True

    def _occurs(self, param: Type, type: Type) -> bool:
        if type == param:
            return True
        known = self._known.get(type) if type.name == "param" else type
        if known is None:
            return False
        return self._occurs(param, known) if known is not type else any(self._occurs(param, inner) for inner in type.params)

    @staticmethod
    def _is_dyn(type: Type) -> bool:
        return type.name in {"dyn", "*error*"}


_SCALARS = {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null"}


def _more_general(one: Type, other: Type) -> Type:
    return one if _at_least_as_general(one, other) else other


def _at_least_as_general(one: Type, other: Type) -> bool:
    if one.name in {"dyn", "*error*", "param"}:
        return True
    if one.name != other.name or len(one.params) != len(other.params) or one.scope is not other.scope:
        return False
    return all(_at_least_as_general(*pair) for pair in zip(one.params, other.params, strict=True))


def _nullable(type: Type) -> bool:
    """Objects, times and opaque values may be null; plain values, lists and maps may not."""
    return type.name not in _SCALARS


@cache
def parse_type(text: str) -> Type:
    """A type as the declarations write it; one capital letter is a parameter."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Type("param", (), name) if len(name) == 1 else Type(name)
    return Type(name, tuple(parse_type(part) for part in split_types(rest[:-1])))


def split_types(text: str) -> list[str]:
    """The parts of a list of types, at its outermost commas."""
    out, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            out.append(text[start:index].strip())
            start = index + 1
    return [*out, text[start:].strip()] if text.strip() else []
