"""A JSON object as Go prints the struct it stands for: with types, in the order of declaration, maps by key, nothing left out.

The format is that of the library that Kubernetes' hashes have always used (`dump.ForHash`): `(type)value`, structs as
`{Field:(type)value …}`, lists as `[a b]` without the types of their elements, absent pointers, lists and maps as `<nil>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from setpoint.controllers.template_hash.layout import STRUCTS, Field, fields_of

_NIL = "<nil>"
_NUMBERS = {"int32", "int64"}
_ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_QUANTITY = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?([a-zA-Z]*(?:[+-]?\d+)?)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def printed(value: Any, go_type: str) -> str:
    """`(type)value`; `value` None is absent."""
    return f"({go_type}){_value(value, go_type)}"


def _value(value: Any, go_type: str) -> str:
    if go_type.startswith("*"):
        return _NIL if value is None else _value(value, go_type[1:])
    if go_type.startswith("[]"):
        return f"[{' '.join(_value(item, go_type[2:]) for item in value)}]" if value else _NIL
    if (kind := _SPECIAL.get(go_type)) is not None:
        return kind(value)
    if go_type in STRUCTS:
        members = value or {}
        return f"{{{' '.join(_member(members, field) for field in fields_of(go_type))}}}"
    if go_type in _NUMBERS:
        return str(value or 0)
    return str(value or "")


def _member(members: Mapping[str, Any], field: Field) -> str:
    value = members if field.inline else members.get(field.json)
    return f"{field.name}:{printed(value, field.type)}"


def _bool(value: bool | None) -> str:
    return "true" if value else "false"


def _strings(value: Mapping[str, str] | None) -> str:
    return f"map[{' '.join(f'{key}:{value[key]}' for key in sorted(value))}]" if value else _NIL


def _resources(value: Mapping[str, str] | None) -> str:
    return f"map[{' '.join(f'{key}:{_quantity(value[key])}' for key in sorted(value))}]" if value else _NIL


def _int_or_string(value: int | str | None) -> str:
    number, text = (0, value) if isinstance(value, str) else (value or 0, "")
    return f"{{Type:(intstr.Type){int(isinstance(value, str))} IntVal:(int32){number} StrVal:(string){text}}}"


@cache
def _quantity(text: str | None) -> str:
    """A Quantity that was parsed from its canonical text, which it remembers."""
    value, scale, form = _parsed(text or "")
    amount = f"i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}}"
    exact = "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}"
    return f"{{{amount} {exact} s:(string){text or ''} Format:(resource.Format){form}}}"


def _parsed(text: str) -> tuple[int, int, str]:
    """Value, decimal scale and format; zero has no format."""
    match = _QUANTITY.fullmatch(text)
    if match is None or text in {"", "0"}:
        return 0, 0, ""
    sign, whole, fraction, suffix = match.groups()
    fraction = fraction or ""
    digits = int(f"{sign}{whole}{fraction}" or 0)
    if suffix in _BINARY:
        return digits << _BINARY[suffix], -len(fraction), "BinarySI"
    if suffix in _DECIMAL:
        return digits, _DECIMAL[suffix] - len(fraction), "DecimalSI"
    return digits, int(suffix[1:]) - len(fraction), "DecimalExponent"


_SPECIAL: dict[str, Callable[[Any], str]] = {
    "bool": _bool,
    "map[string]string": _strings,
    "v1.ResourceList": _resources,
    "resource.Quantity": _quantity,
    "intstr.IntOrString": _int_or_string,
    "v1.Time": lambda _: _ZERO_TIME,
}
