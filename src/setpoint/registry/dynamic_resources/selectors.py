"""Expressions that choose devices, checked for their types and for what they may cost.

Source: Kubernetes' `dynamic-resource-allocation/cel`, `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from setpoint.api.machinery.status import forbidden, invalid
from setpoint.registry.fields import Errors

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.schema_types import Decl
    from setpoint.api.machinery.cel.types import Type

_MAX_COST = 1_000_000
_MAX_ENTRIES = 32
_LONGEST_DOMAIN = 63
_LONGEST_IDENTIFIER = 32
_LONGEST_VALUE = 64
#: a driver's name
_LONGEST_DRIVER = 63


def validate_expression(path: str, text: str) -> Errors:
    from setpoint.api.machinery.cel.checker import check
    from setpoint.api.machinery.cel.estimate import estimate_cost
    from setpoint.api.machinery.cel.parser import parse
    from setpoint.api.machinery.cel.source import CompileError

    try:
        tree = parse(text)
        found = check(text, tree, {"device": _device().type})
    except CompileError as error:
        return [invalid(path, text, f"compilation failed: {error}")]
    if found.name not in {"bool", "dyn"}:  # attributes are of an unknown type
        kind = "null_type" if found.name == "null" else str(found)
        return [invalid(path, text, f"must evaluate to bool or the unknown type, not {kind}")]
    too_dear = estimate_cost(tree, _device()) > _MAX_COST
    return [forbidden(path, "too complex, exceeds cost limit")] if too_dear else []


@cache
def _device() -> Decl:
    """A device as expressions see it; sizes as the group's own limits have them."""
    from setpoint.api.machinery.cel.schema_types import Decl
    from setpoint.api.machinery.cel.types import BOOL, DYN, STRING, ObjectScope, Type, map_of, object_type

    quantity = Type("kubernetes.Quantity")
    fields = {
        "driver": Decl(STRING, 0, _LONGEST_DRIVER),
        "attributes": _nested(DYN, _LONGEST_VALUE),
        "capacity": _nested(quantity, 0),
        "allowMultipleAllocations": Decl(BOOL, 0),
    }
    types: dict[str, Type] = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, quantity)),
        "allowMultipleAllocations": BOOL,
    }
    return Decl(object_type(ObjectScope("kubernetes.DRADevice", types)), 0, fields=fields)


def _nested(value: Type, longest: int) -> Decl:
    """Domain → identifier → value."""
    from setpoint.api.machinery.cel.schema_types import Decl
    from setpoint.api.machinery.cel.types import STRING, map_of

    inner = Decl(map_of(STRING, value), 0, _MAX_ENTRIES, key=Decl(STRING, 0, _LONGEST_IDENTIFIER), items=Decl(value, 0, longest))
    return Decl(map_of(STRING, inner.type), 0, _MAX_ENTRIES, key=Decl(STRING, 0, _LONGEST_DOMAIN), items=inner)
