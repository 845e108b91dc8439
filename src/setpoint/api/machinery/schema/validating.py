"""Validation of a custom object by its OpenAPI v3 schema, with Kubernetes' complaints.

`validate(obj, schema, old)` ratchets: what is wrong in a part that an update has not changed is let pass. Source: kube-openapi
`validation/validate` (the order of checks), `validation/errors` (the texts); apiextensions-apiserver `apiserver/validation`
(how they become field errors, ratcheting).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.schema import strings
from setpoint.api.machinery.schema.list_types import repeated_at
from setpoint.api.machinery.schema.unchanged import unchanged
from setpoint.api.machinery.status import FieldError, go_double, invalid, not_supported, required, too_long, too_many

Schema = Mapping[str, Any]

_ABSENT: Any = object()
_NUMBERS = ("integer", "number")
#: the format that a value has by itself
_GO_FORMATS = {"integer": "int64", "number": "float64"}
_BOUNDS = {
    "int32": range(-(2**31), 2**31),
    "int64": range(-(2**63), 2**63),
    "uint32": range(2**32),
    "uint64": range(2**64),
}
_NEARLY = 1e-9
_OR_EQUAL = {True: "or equal to ", False: ""}
_FLOAT_MAX = 3.4028234663852886e38


def validate(obj: Any, schema: Schema, old: Any = _ABSENT, path: str = "") -> list[FieldError]:
    """Every complaint; with `old`, those about changed parts."""
    return Check(path, schema).run(obj, old).errors


class Result:
    """Complaints, and how many checks were made (which decides whose complaints of `oneOf` are shown)."""

    __slots__ = ("count", "errors")

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.count = 0

    def merge(self, other: Result) -> None:
        self.errors += other.errors
        self.count += other.count


class Check:
    """One schema at one place."""

    __slots__ = ("path", "schema")

    def __init__(self, path: str, schema: Schema) -> None:
        self.path = path
        self.schema = schema

    def run(self, value: Any, old: Any = _ABSENT) -> Result:
        result = Result()
        if value is None:
            self._type(value, result)
            self._enum(value, result)
        else:
            self._value(value, old, result)
        if result.errors and old is not _ABSENT and unchanged(value, old, self.schema):
            result.errors = []
        return result

    def _value(self, value: Any, old: Any, result: Result) -> None:
        kind = type(value)
        self._type(value, result)
        self._composed(value, old, result)
        if kind is str:
            self._string(value, result)
        elif kind is int or kind is float:
            self._number(value, result)
        elif kind is list:
            self._list(value, old, result)
        self._enum(value, result)
        if kind is dict:
            self._object(value, old, result)
        result.count += 4

    # --- one check each ---

    def _type(self, value: Any, result: Result) -> None:
        schema = self.schema
        wanted = ("integer", "string") if schema.get("x-kubernetes-int-or-string") else (schema.get("type") or "",)
        form = strings.known_format(schema) if "format" in schema else ""
        if wanted == ("",) and not (form and value is not None):
            return
        if value is None:
            if not schema.get("nullable"):
                result.errors.append(self._wrong_type(wanted, "null"))
            return
        found = type_of(value)
        if form and wanted[0] not in _NUMBERS and found in {"string", "array"}:
            return  # a format stands for the type, of whatever can have one
        if found in wanted or (found == "integer" and "number" in wanted):
            return
        if found == "number" and "integer" in wanted and float(value).is_integer() and -(2**63) <= value < 2**63:
            return
        if form and found not in {"string", "array"}:
            result.errors.append(self._wrong_type((form,), _GO_FORMATS.get(found, "")))
        else:
            result.errors.append(self._wrong_type(wanted, found))

    def _wrong_type(self, wanted: Sequence[str], found: str) -> FieldError:
        return FieldError(
            "FieldValueTypeInvalid", self._field, found, self._says(f'must be of type {",".join(wanted)}: "{found}"')
        )

    def _composed(self, value: Any, old: Any, result: Result) -> None:
        schema = self.schema
        if any_of := schema.get("anyOf"):
            self._any_of(any_of, value, old, result)
        if one_of := schema.get("oneOf"):
            self._one_of(one_of, value, old, result)
        if all_of := schema.get("allOf"):
            runs = [Check(self.path, each).run(value, old) for each in all_of]
            for run in runs:
                result.merge(run)
            valid = sum(not run.errors for run in runs)
            if valid != len(runs):
                none = ". None validated" if not valid else ""
                result.errors.append(self._whole(f"must validate all the schemas (allOf){none}"))
        if (negated := schema.get("not")) is not None and not Check(self.path, negated).run(value, old).errors:
            result.errors.append(self._whole("must not validate the schema (not)"))

    def _any_of(self, schemas: Sequence[Schema], value: Any, old: Any, result: Result) -> None:
        best: Result | None = None
        for each in schemas:
            run = Check(self.path, each).run(value, old)
            if not run.errors:
                result.count += run.count
                return
            if best is None or run.count > best.count:
                best = run
        result.errors.append(self._whole("must validate at least one schema (anyOf)"))
        if best is not None:
            result.merge(best)

    def _one_of(self, schemas: Sequence[Schema], value: Any, old: Any, result: Result) -> None:
        best: Result | None = None
        valid = 0
        for each in schemas:
            run = Check(self.path, each).run(value, old)
            if not run.errors:
                valid, best = valid + 1, None
            elif not valid and (best is None or run.count > best.count):
                best = run
        if valid == 1:
            return
        more = f"Found {valid} valid alternatives" if valid else "Found none valid"
        result.errors.append(self._whole(f"must validate one and only one schema (oneOf). {more}"))
        if best is not None:
            result.merge(best)

    def _string(self, value: str, result: Result) -> None:
        schema, length = self.schema, len(value)
        if (most := schema.get("maxLength")) is not None and length > most:
            result.errors.append(too_long(self._field, most))
        elif (least := schema.get("minLength")) is not None and length < least:
            result.errors.append(self._invalid(value, f"should be at least {least} chars long"))
        elif (pattern := schema.get("pattern")) and not strings.matches(pattern, value):
            result.errors.append(self._invalid(value, f"should match '{pattern}'"))
        kind = strings.known_format(schema) if "format" in schema else ""
        if kind and not strings.fits(kind, value):
            detail = self._says(f'must be of type {kind}: "{value}"')
            result.errors.append(FieldError("FieldValueTypeInvalid", self._field, value, detail))

    def _number(self, value: float, result: Result) -> None:
        schema = self.schema
        self._in_range("Checked", value, result)
        factor, least, most = schema.get("multipleOf"), schema.get("minimum"), schema.get("maximum")
        if factor is not None:
            factor = self._native("MultipleOf", factor, value, result)
            if factor < 0:
                why = f"factor MultipleOf declared for {self.path} must be positive: {number(factor)}"
                result.errors.append(invalid(self._field, factor, why))
            elif not _is_multiple(value, factor):
                result.errors.append(self._invalid(value, f"should be a multiple of {number(factor)}"))
        if least is not None:
            least, strict = self._native("Minimum boundary", least, value, result), schema.get("exclusiveMinimum")
            if value <= least if strict else value < least:
                result.errors.append(self._invalid(value, f"should be greater than {_OR_EQUAL[not strict]}{number(least)}"))
        if most is not None:
            most, strict = self._native("Maximum boundary", most, value, result), schema.get("exclusiveMaximum")
            if value >= most if strict else value > most:
                result.errors.append(self._invalid(value, f"should be less than {_OR_EQUAL[not strict]}{number(most)}"))

    def _native(self, what: str, limit: float, value: float, result: Result) -> float:
        """A limit as it is compared with a value: with an integer as one, unless the type has no such limits."""
        fits = self._in_range(what, limit, result)
        return int(limit) if fits and type(value) is int else float(limit)

    def _in_range(self, what: str, value: float, result: Result) -> bool:
        misfit = _out_of_range(self.schema, value)
        if misfit is not None:
            result.errors.append(invalid("<nil>", "", f"{what} value must be of type {misfit} in {self.path}"))
        return misfit is None

    def _list(self, value: list[Any], old: Any, result: Result) -> None:
        schema, size = self.schema, len(value)
        items = schema.get("items")
        if isinstance(items, Mapping):
            before = _correlated(schema, old) if old is not _ABSENT else None
            for index, found in enumerate(value):
                earlier = before.get(_key(schema, found), _ABSENT) if before else _ABSENT
                result.merge(Check(f"{self.path}[{index}]", items).run(found, earlier))
        if (least := schema.get("minItems")) is not None and size < least:
            result.errors.append(self._invalid(size, f"should have at least {least} items"))
        if (most := schema.get("maxItems")) is not None and size > most:
            result.errors.append(too_many(self._field, size, most))
        if schema.get("uniqueItems") and next(repeated_at(value), None) is not None:
            result.errors.append(self._invalid("", "shouldn't contain duplicates"))

    def _enum(self, value: Any, result: Result) -> None:
        allowed = self.schema.get("enum")
        if allowed:  # never null, not even where it is one of the values
            if value is not None and any(_is_allowed(value, each) for each in allowed):
                return
            words = [each if isinstance(each, str) else orjson.dumps(each).decode() for each in allowed]
            result.errors.append(not_supported(self._field, value, words))

    def _object(self, value: dict[str, Any], old: Any, result: Result) -> None:
        schema, size = self.schema, len(value)
        if (least := schema.get("minProperties")) is not None and size < least:
            result.errors.append(self._invalid(size, f"should have at least {least} properties"))
            return
        if (most := schema.get("maxProperties")) is not None and size > most:
            result.errors.append(too_many(self._field, size, most))
            return
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        before = old if type(old) is dict else {}
        if others is False:
            for name in (name for name in value if name not in known):
                result.errors.append(invalid(self._field, name, f"{self.path}.{name} in body is a forbidden property"))
        if isinstance(others, Mapping):
            for name, found in value.items():
                if name not in known:
                    result.merge(Check(f"{self.path}.{name}", others).run(found, before.get(name, _ABSENT)))
        for name, below in known.items():
            if name in value:
                place = f"{self.path}.{name}" if self.path else name
                result.merge(Check(place, below).run(value[name], before.get(name, _ABSENT)))
        for name in schema.get("required") or ():
            if name not in value:
                result.errors.append(required(f"{self.path}.{name}".removeprefix(".")))

    # --- words ---

    @property
    def _field(self) -> str:
        return self.path.removeprefix(".") or "<nil>"

    def _says(self, text: str) -> str:
        return f"{self.path} in body {text}"

    def _invalid(self, value: Any, text: str) -> FieldError:
        return invalid(self._field, value, self._says(text))

    def _whole(self, text: str) -> FieldError:
        return invalid("<nil>", "", f'"{self.path}" {text}')


def _is_allowed(value: Any, each: Any) -> bool:
    """Whether a value is one of an enumeration; Kubernetes makes a number one of the listed value's kind first."""
    if type(value) is float and type(each) is int:
        return int(value) == each
    return equal(value, each)


def _out_of_range(schema: Schema, value: float) -> str | None:
    """The type and format that a number does not fit into; nothing where it does."""
    kind, form = schema.get("type"), schema.get("format")
    if kind == "integer":
        bounds = _BOUNDS.get(form or "", _BOUNDS["int64"])
        fits = float(value).is_integer() and int(value) in bounds
    elif kind == "number":
        fits = form != "float" or abs(value) <= _FLOAT_MAX
    else:
        return None
    if fits:
        return None
    return f"{kind} with format {form}" if form else f"{kind} (default format)"


def type_of(value: Any) -> str:
    """JSON Schema's name of a value's type."""
    if value is None:
        return "null"
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds[type(value)]


def number(value: float) -> str:
    """A bound as Go prints it: a double unless it was made an integer to be compared with one."""
    return go_double(value) if isinstance(value, float) else str(value)


def _is_multiple(value: float, factor: float) -> bool:
    """Whether a number is a multiple; doubles nearly so, as of go-openapi `swag/convert.go`."""
    if factor == 0:
        return True
    if type(value) is int and type(factor) is int:
        return value % factor == 0
    times = abs(1 / factor * value if factor < 1 else value / factor)
    off = times % 1
    return off == 0 or off / (times + math.floor(times)) < _NEARLY


def equal(one: Any, other: Any) -> bool:
    """Equality of JSON: 1 and 1.0 are the same number, true is none."""
    if one is other:
        return True
    if one != other:
        return False
    option = orjson.OPT_SORT_KEYS
    return type(one) in (str, int) or orjson.dumps(one, option=option) == orjson.dumps(other, option=option)


def _correlated(schema: Schema, old: Any) -> dict[Any, Any] | None:
    """The old items of a list map by their keys; other lists have no items that could be told apart."""
    if schema.get("x-kubernetes-list-type") != "map" or type(old) is not list:
        return None
    found: dict[Any, Any] = {}
    for item in old:
        if (key := _key(schema, item)) is not None:
            found[key] = item
    return found


def _key(schema: Schema, item: Any) -> bytes | None:
    if type(item) is not dict:
        return None
    return orjson.dumps([item.get(name) for name in schema.get("x-kubernetes-list-map-keys") or ()], option=orjson.OPT_SORT_KEYS)


def has_rules(schema: Any) -> bool:
    """Whether a schema holds rules in CEL anywhere."""
    return b'"x-kubernetes-validations"' in orjson.dumps(schema)
