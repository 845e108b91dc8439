"""Label and field selectors: their grammar with Kubernetes' exact complaints, and fast matching.

Source: apimachinery's `labels/selector.go` and `apis/meta/v1/helpers.go` (LabelSelectorAsSelector).
Requirements are sorted by key, so that a selector's text does not depend on how it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.api.machinery.field_selectors import FieldRequirement, FieldSelector, SelectorError, parse_fields
from setpoint.api.machinery.integers import int64
from setpoint.api.machinery.status import FieldError, forbidden, go_value, invalid, required

__all__ = [
    "NOTHING",
    "FieldRequirement",
    "FieldSelector",
    "LabelSelector",
    "Requirement",
    "SelectorError",
    "from_labels",
    "from_object",
    "label_selector_errors",
    "parse_fields",
    "parse_labels",
    "to_string",
]

Matcher = Callable[[Mapping[str, str]], bool]


class Requirement(Struct, frozen=True):
    """One condition on one key, its values sorted. Operators: `=`, `==`, `!=`, `in`, `notin`, `exists`, `!`, `gt`, `lt`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        joined = ",".join(self.values)
        match self.operator:
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({joined})"
            case "gt" | "lt":
                return f"{self.key}{'>' if self.operator == 'gt' else '<'}{joined}"
            case _:
                return f"{self.key}{self.operator}{joined}"

    def matcher(self) -> Matcher:
        """A function of a map of labels, made once per selector."""
        key, values = self.key, frozenset(self.values)
        match self.operator:
            case "exists":
                return lambda labels: key in labels
            case "!":
                return lambda labels: key not in labels
            case "in" | "=" | "==":
                return lambda labels: labels.get(key) in values
            case "notin" | "!=":
                return lambda labels: labels.get(key) not in values
            case _:
                return _comparison(key, self.operator, int(self.values[0]))


def _comparison(key: str, operator: str, limit: int) -> Matcher:
    def matches(labels: Mapping[str, str]) -> bool:
        number = int64(labels.get(key, ""))
        return number is not None and (number > limit if operator == "gt" else number < limit)

    return matches


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A conjunction of requirements; `nothing` matches no object (a LabelSelector that is not there at all)."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False
    matches: Matcher = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matches", _compile(self.requirements, nothing=self.nothing))

    @property
    def everything(self) -> bool:
        """Whether it restricts nothing."""
        return not self.requirements and not self.nothing

    def exact(self, key: str) -> str | None:
        """The one value that the selector asks of a key, if it does."""
        for requirement in self.requirements:
            if requirement.key == key:
                single = requirement.operator in ("=", "==", "in") and len(requirement.values) == 1
                return requirement.values[0] if single else None
        return None

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _compile(requirements: tuple[Requirement, ...], *, nothing: bool) -> Matcher:
    if nothing:
        return lambda _: False
    if not requirements:
        return lambda _: True
    if all(requirement.operator in ("=", "==") for requirement in requirements):
        return _compile_equal(tuple((requirement.key, requirement.values[0]) for requirement in requirements))
    matchers = tuple(requirement.matcher() for requirement in requirements)
    return matchers[0] if len(matchers) == 1 else lambda labels: all(matcher(labels) for matcher in matchers)


def _compile_equal(pairs: tuple[tuple[str, str], ...]) -> Matcher:
    """The usual case, without a call per requirement."""
    if len(pairs) == 1:
        ((only, wanted),) = pairs
        return lambda labels: labels.get(only) == wanted

    def matches(labels: Mapping[str, str]) -> bool:
        for key, value in pairs:  # noqa: SIM110  (a generator costs twice as much, and this runs per object and watcher)
            if labels.get(key) != value:
                return False
        return True

    return matches


NOTHING = LabelSelector(nothing=True)

# --- the grammar ---

_SYMBOLS = frozenset("=!(),><")
_BLANKS = " \t\r\n"
_TOKENS = {")", ",", "!", "==", "=", ">", "in", "<", "!=", "notin", "("}
_END = ""
_IDENTIFIER = "identifier"
_OPERATORS = {"in": "in", "=": "=", "==": "==", ">": "gt", "<": "lt", "notin": "notin", "!=": "!="}


def _scan(text: str) -> list[tuple[str, str]]:
    """Tokens as (kind, literal), the end of the text last."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        letter = text[position]
        if letter in _BLANKS:
            position += 1
            continue
        if letter == "\x00":
            break
        if letter in _SYMBOLS:
            symbol = text[position : position + 2]
            symbol = symbol if symbol in _TOKENS else letter
            token, position = (symbol, symbol), position + len(symbol)
        else:
            end = position
            while end < len(text) and text[end] not in _SYMBOLS and text[end] not in _BLANKS and text[end] != "\x00":
                end += 1
            word, position = text[position:end], end
            token = (word if word in _TOKENS else _IDENTIFIER, word)
        tokens.append(token)
    return [*tokens, (_END, "")]


class _Parser:
    """Recursive descent over the tokens; `in` and `notin` are ordinary words where a key or a value stands."""

    def __init__(self, text: str) -> None:
        self.tokens = _scan(text)
        self.position = 0

    def peek(self) -> tuple[str, str]:
        kind, literal = self.tokens[self.position]
        return (_IDENTIFIER if kind in ("in", "notin") else kind), literal

    def take(self) -> tuple[str, str]:
        token = self.peek()
        if self.position < len(self.tokens) - 1:
            self.position += 1
        return token

    def selector(self) -> Iterable[Requirement]:
        kind, literal = self.peek()
        if kind == _END:
            return
        if kind not in (_IDENTIFIER, "!"):
            raise SelectorError(f"found '{literal}', expected: !, identifier, or 'end of string'")
        while True:
            try:
                yield self.requirement()
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            kind, literal = self.take()
            if kind == _END:
                return
            if kind != ",":
                raise SelectorError(f"found '{literal}', expected: ',' or 'end of string'")
            kind, literal = self.peek()
            if kind not in (_IDENTIFIER, "!"):
                raise SelectorError(f"found '{literal}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        kind, key = self.take()
        negated = kind == "!"
        if negated:
            kind, key = self.take()
        if kind != _IDENTIFIER:
            raise SelectorError(f"found '{key}', expected: identifier")
        if complaints := names.label_key(key):
            raise SelectorError(f"<nil>: Invalid value: {go_value(key)}: {'; '.join(complaints)}")
        if negated:
            return Requirement(key, "!")
        if self.peek()[0] in (_END, ","):
            return Requirement(key, "exists")
        operator = self.operator()
        return new_requirement(key, operator, self.values() if operator in ("in", "notin") else self.value())

    def operator(self) -> str:
        kind, literal = self.tokens[self.position]
        self.take()
        if kind not in _OPERATORS:
            raise SelectorError(f"found '{literal}', expected: in, notin, =, ==, !=, gt, lt")
        return _OPERATORS[kind]

    def value(self) -> list[str]:
        if self.peek()[0] in (_END, ","):
            return [""]
        kind, literal = self.take()
        if kind != _IDENTIFIER:
            raise SelectorError(f"found '{literal}', expected: identifier")
        return [literal]

    def values(self) -> list[str]:
        kind, literal = self.take()
        if kind != "(":
            raise SelectorError(f"found '{literal}' expected: '('")
        kind, literal = self.peek()
        if kind == ")":
            self.take()
            return [""]
        if kind not in (_IDENTIFIER, ","):
            raise SelectorError(f"found '{literal}', expected: ',', ')' or identifier")
        found = self.identifiers()
        if self.take()[0] != ")":
            raise SelectorError(f"found '{literal}', expected: ')'")
        return found

    def identifiers(self) -> list[str]:
        """`a,b`, `,a`, `a,`: an empty place is the empty value."""
        found: set[str] = set()
        while True:
            kind, literal = self.take()
            following, following_literal = self.peek()
            if kind == _IDENTIFIER:
                found.add(literal)
                if following == ")":
                    return sorted(found)
                if following != ",":
                    raise SelectorError(f"found '{following_literal}', expected: ',' or ')'")
            elif kind == ",":
                if not found or following in (")", ","):
                    found.add("")
                if following == ")":
                    return sorted(found)
            else:
                raise SelectorError(f"found '{literal}', expected: ',', or identifier")


def new_requirement(key: str, operator: str, values: list[str]) -> Requirement:
    """A requirement whose key and values are checked; all complaints together, as an aggregate of field errors."""
    complaints: list[str] = []
    if errors := names.label_key(key):
        complaints.append(f"key: Invalid value: {go_value(key)}: {'; '.join(errors)}")
    if operator in ("in", "notin") and not values:
        complaints.append("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    if operator in ("exists", "!") and values:
        listed = ",".join(map(go_value, values))
        complaints.append(f"values: Invalid value: [{listed}]: values set must be empty for exists and does not exist")
    if operator in ("gt", "lt"):
        complaints += [
            f"values[{index}]: Invalid value: {go_value(value)}: for 'Gt', 'Lt' operators, the value must be an integer"
            for index, value in enumerate(values)
            if int64(value) is None
        ]
    for index, value in enumerate(values):
        if errors := names.label_value(value):
            complaints.append(f"values[{index}][{key}]: Invalid value: {go_value(value)}: {'; '.join(errors)}")
    if complaints:
        raise SelectorError(complaints[0] if len(complaints) == 1 else f"[{', '.join(dict.fromkeys(complaints))}]")
    return Requirement(key, operator, tuple(sorted(values)))


@lru_cache(maxsize=4096)
def parse_labels(text: str) -> LabelSelector:
    """The selector that a `labelSelector` parameter stands for; SelectorError says what is wrong with it."""
    return LabelSelector(tuple(sorted(_Parser(text).selector(), key=lambda requirement: requirement.key)))


_EXPRESSION_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def from_object(selector: Mapping[str, Any] | None) -> LabelSelector:
    """The selector of a `metav1.LabelSelector`: nothing where it is absent, everything where it is empty."""
    if selector is None:
        return NOTHING
    labels, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or ()
    requirements = [new_requirement(key, "=", [value]) for key, value in labels.items()]
    for expression in expressions:
        operator = _EXPRESSION_OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            raise SelectorError(f"{go_value(expression.get('operator', ''))} is not a valid label selector operator")
        requirements.append(new_requirement(expression.get("key", ""), operator, list(expression.get("values") or ())))
    return LabelSelector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def from_labels(labels: Mapping[str, str]) -> LabelSelector:
    """The selector of a plain map (a Service's, a ReplicationController's); values are not checked."""
    return LabelSelector(tuple(Requirement(key, "=", (value,)) for key, value in sorted(labels.items())))


def to_string(selector: LabelSelector | Mapping[str, Any] | None) -> str:
    """The text of a selector, as `scale.status.selector` and clients' queries have it."""
    return str(selector if isinstance(selector, LabelSelector) else from_object(selector))


def label_selector_errors(selector: Mapping[str, Any], path: str, *, check_values: bool = True) -> list[FieldError]:
    """What validation says of a `metav1.LabelSelector` in an object; `check_values` is off where old objects are tolerated."""
    errors = names.label_errors(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        errors += _expression_errors(expression, f"{path}.matchExpressions[{index}]", check_values=check_values)
    return errors


def _expression_errors(expression: Mapping[str, Any], path: str, *, check_values: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = expression.get("key", "")
    errors += [invalid(f"{path}.key", key, complaint) for complaint in names.label_key(key)]
    if check_values:
        for index, value in enumerate(values):
            errors += [invalid(f"{path}.values[{index}]", value, complaint) for complaint in names.label_value(value)]
    return errors
