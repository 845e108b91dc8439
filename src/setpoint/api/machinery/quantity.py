"""Kubernetes' quantities: `100m`, `1.5Gi`, `1e3`, exact, in the spelling that the API server answers with.

A quantity is a whole number of nanos (parsing rounds smaller parts away from zero) and a format. The spelling of the input
survives where Kubernetes' parser finds it canonical enough; otherwise the value is written with the largest suffix that leaves
no fraction: `1024Mi` → `1Gi`, `1000` → `1k`, `0.9Gi` → `966367641600m`.

Source: apimachinery's `api/resource` (quantity.go, suffix.go, amount.go), down to what its scanner lets pass.
"""

from __future__ import annotations

import re
from functools import lru_cache, total_ordering

NANO = 10**9
MILLI_IN_NANOS = 10**6
_MAX_INT64 = 2**63 - 1
#: beyond this an exponent is an attack on memory rather than a number
_MAX_EXPONENT = 4096

DECIMAL_EXPONENT = "DecimalExponent"
BINARY_SI = "BinarySI"
DECIMAL_SI = "DecimalSI"

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = ("", *_BINARY_SUFFIXES)

#: what the scanner takes apart; digits and point may be missing, and only the suffix decides afterwards
_scan = re.compile(r"([+-]?)0*([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)").fullmatch
_exponent = re.compile(r"[eE]([-+]?[0-9]+)").fullmatch

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_WRONG = "unable to parse quantity's suffix"


class QuantityError(ValueError):
    """The text is no quantity; the message is Kubernetes' own."""


@total_ordering
class Quantity:
    """An immutable amount. Values compare and hash by amount alone, whatever the spelling."""

    __slots__ = ("_text", "format", "nanos")

    def __init__(self, nanos: int, format: str = DECIMAL_SI, text: str = "") -> None:
        self.nanos = nanos
        self.format = format
        self._text = text

    @classmethod
    def of(cls, value: int, format: str = DECIMAL_SI) -> Quantity:
        """A whole number of units (bytes, cores)."""
        return cls(value * NANO, format)

    @classmethod
    def of_milli(cls, value: int, format: str = DECIMAL_SI) -> Quantity:
        """A whole number of thousandths (millicores)."""
        return cls(value * MILLI_IN_NANOS, format)

    def value(self) -> int:
        """Units, rounded away from zero."""
        return _divide_up(self.nanos, NANO)

    def milli_value(self) -> int:
        """Thousandths, rounded away from zero."""
        return _divide_up(self.nanos, MILLI_IN_NANOS)

    def as_float(self) -> float:
        return self.nanos / NANO

    def round_up_to_milli(self) -> Quantity:
        """No parts smaller than a thousandth, as resource lists are stored; the spelling survives if nothing was lost."""
        lost = self.nanos % MILLI_IN_NANOS
        return Quantity(self.milli_value() * MILLI_IN_NANOS, self.format) if lost else self

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos - other.nanos, self.format if self.nanos else other.format)

    def __mul__(self, factor: int) -> Quantity:
        return Quantity(self.nanos * factor, self.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nanos, self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __str__(self) -> str:
        if not self._text:
            self._text = _spell(self.nanos, self.format)
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


ZERO = Quantity(0)


def _divide_up(value: int, divisor: int) -> int:
    """Division that rounds away from zero."""
    return -(-value // divisor) if value > 0 else value // divisor


def _spell(nanos: int, notation: str) -> str:
    if nanos == 0:
        return "0"
    if notation == BINARY_SI:
        whole, part = divmod(nanos, NANO)
        if not part and abs(whole) >= 1024:
            return _spell_binary(whole)
        notation = DECIMAL_SI
    return _spell_decimal(nanos, notation)


def _spell_binary(units: int) -> str:
    power = 0
    while units % 1024 == 0 and power < len(_BINARY_NAMES) - 1:
        units //= 1024
        power += 1
    return f"{units}{_BINARY_NAMES[power]}"


def _spell_decimal(mantissa: int, notation: str) -> str:
    exponent = -9
    while mantissa % 1000 == 0:
        mantissa //= 1000
        exponent += 3
    if notation == DECIMAL_EXPONENT:
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    return f"{mantissa}{_DECIMAL_NAMES.get(exponent, '')}"


def _interpret(suffix: str) -> tuple[int, int, str]:
    """Base, exponent and notation that a suffix stands for."""
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], BINARY_SI
    found = _exponent(suffix)
    if found and abs(int(found[1])) <= _MAX_EXPONENT:
        return 10, int(found[1]), DECIMAL_EXPONENT
    raise QuantityError(SUFFIX_WRONG)


_LONGEST = 1000
"""Digits that are looked at before and after the point."""
_REMEMBERED = 64
"""Characters of a text that is worth a place in the cache."""


def parse(text: str) -> Quantity:
    """The quantity that `text` stands for (blanks around it are the JSON reader's business: see `canonical`)."""
    return _remembered(text) if len(text) <= _REMEMBERED else _parse(text)


def _parse(text: str) -> Quantity:
    found = _scan(text) if text else None
    if found is None:
        raise QuantityError(FORMAT_WRONG)
    sign, number, _, fraction, suffix = found.groups()
    number, fraction = _bounded(number or "0"), (fraction or "")[:_LONGEST]
    base, exponent, notation = _interpret(suffix)
    digits = int(number + fraction)
    if base == 10:
        nanos = _scaled(digits, 9 + exponent - len(fraction))
    else:
        nanos = _scaled(digits << exponent, 9 - len(fraction))
        if nanos > _MAX_INT64 * NANO:
            nanos = _MAX_INT64 * NANO
        elif 0 < nanos < NANO:
            notation = DECIMAL_SI
    kept = text if _keeps_spelling(number, fraction, exponent, notation) else ""
    return Quantity(-nanos if sign == "-" else nanos, notation, kept)


_remembered = lru_cache(maxsize=8192)(_parse)


def _bounded(number: str) -> str:
    """Digits that Python takes for a number; beyond them all is far above what a quantity can hold."""
    if len(number) <= _LONGEST:
        return number
    significant = number.lstrip("0") or "0"
    return significant if len(significant) <= _LONGEST else "9" * _LONGEST


def _scaled(digits: int, power: int) -> int:
    return digits * 10**power if power >= 0 else _divide_up(digits, 10**-power)


def _keeps_spelling(number: str, fraction: str, exponent: int, notation: str) -> bool:
    """Whether Kubernetes' fast path takes the number and finds nothing to shorten in it."""
    digits = number + fraction
    if notation == BINARY_SI:
        small = not fraction and 15 - len(number) - exponent * 3 // 10 - 1 >= 0
        return small and int(number) & 7 != 0
    scale = exponent - len(fraction)
    return len(digits) <= 18 and scale >= -9 and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def canonical(value: str | float) -> str:
    """The spelling in which the API answers: blanks trimmed, numbers taken as their JSON text."""
    text = value.strip() if isinstance(value, str) else number_text(value)
    return str(parse(text))


def canonical_milli(value: str | float) -> str:
    """`canonical`, rounded up to thousandths: resource lists in specs and statuses (`0.30000000000000004` → `301m`)."""
    text = value.strip() if isinstance(value, str) else number_text(value)
    return str(parse(text).round_up_to_milli())


def number_text(value: float) -> str:
    """A JSON number as text; `1e+22` loses nothing that a quantity would see."""
    return repr(value)
