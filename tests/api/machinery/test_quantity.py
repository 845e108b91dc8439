from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery import quantity
from setpoint.api.machinery.quantity import Quantity, QuantityError, canonical, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("0.9Gi", "966367641600m"),
        ("1.2Gi", "1288490188800m"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1000", "1k"),
        (2, "2"),
        (0.1, "100m"),
        (" 1", "1"),
        ("0", "0"),
        ("0Gi", "0"),
        ("-", "0"),
        ("+1", "+1"),
        ("-1.5", "-1500m"),
        ("1025Ki", "1025Ki"),
        ("100Ki", "100Ki"),
        ("512", "512"),
        ("0.5Ki", "512"),
        ("1.1", "1100m"),
        ("1500m", "1500m"),
        ("0.30000000000000004", "300000001n"),
        ("0.0000000001", "1n"),
        ("12e6", "12e6"),
        ("1e4", "10e3"),
        ("16Ei", "9223372036854775807"),
        ("1000000000000000000000", "1"),
    ],
)
def test_canonical_spelling(text: str | float, expected: str) -> None:
    assert canonical(text) == expected


@pytest.mark.parametrize("text", ["1e3m", "0.1mi", "", "abc", "1..2", "1 Gi", "1KI", "१"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        canonical(text)


def test_the_two_complaints() -> None:
    with pytest.raises(QuantityError, match=r"^quantities must match the regular expression"):
        parse("1e3m")
    with pytest.raises(QuantityError, match=r"^unable to parse quantity's suffix$"):
        parse("0.1mi")
    with pytest.raises(QuantityError):
        parse("1e99999999999")


def test_resource_lists_are_rounded_to_thousandths() -> None:
    """Source: `pkg/apis/core/v1/defaults.go`."""
    assert quantity.canonical_milli("0.30000000000000004") == "301m"
    assert quantity.canonical_milli("0.5m") == "1m"
    assert quantity.canonical_milli("1.500") == "1.500"


def test_arithmetic_keeps_the_format_of_what_is_not_zero() -> None:
    assert str(parse("1Gi") + parse("1Gi")) == "2Gi"
    assert str(quantity.ZERO + parse("2Ki")) == "2Ki"
    assert str(parse("1") - parse("250m")) == "750m"
    assert str(parse("100m") * 3) == "300m"
    assert parse("1Gi") > parse("1G")
    assert parse("1") == parse("1000m")
    assert hash(parse("1")) == hash(parse("1000m"))
    assert parse("1.1").value() == 2
    assert parse("-1.1").value() == -2
    assert parse("1.0001").milli_value() == 1001
    assert Quantity.of(1024, quantity.BINARY_SI).value() == 1024
    assert str(Quantity.of_milli(1500)) == "1500m"


@given(st.integers(-(10**24), 10**24), st.sampled_from([quantity.DECIMAL_SI, quantity.BINARY_SI, quantity.DECIMAL_EXPONENT]))
def test_a_spelling_means_its_amount(nanos: int, notation: str) -> None:
    """What is written can be read again; writing what was read changes nothing (but bare binary amounts)."""
    spelled = str(Quantity(nanos, notation))
    assert parse(spelled).nanos == nanos
    assert canonical(spelled) == spelled or notation == quantity.BINARY_SI


@pytest.mark.parametrize("text", ["9" * 5000, "1." + "1" * 5000, "9" * 5000 + "Gi", "0" * 5000 + "1"])
def test_endless_digits_are_a_quantity_too(text: str) -> None:
    assert quantity.parse(text).nanos > 0
