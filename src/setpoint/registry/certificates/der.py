"""What Go says of the first bytes of something that should be a DER sequence. Source: Go `encoding/asn1`."""

from __future__ import annotations

from typing import NamedTuple

_SEQUENCE = 16
_PARAMETERS = (
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> "
    "stringType:0 timeType:0 set:false omitEmpty:false}"
)


class _Header(NamedTuple):
    """Tag and length of a value, and where what it holds begins."""

    kind: int
    compound: bool
    tag: int
    length: int
    begins: int


def complaint(der: bytes, go_type: str) -> str:
    """Why these bytes cannot be read as one sequence of a Go type; empty where what is wrong lies deeper."""
    if not der:
        return "asn1: syntax error: sequence truncated"
    header = _header(der)
    if header is None:
        return "asn1: syntax error: truncated tag or length"
    if (header.kind, header.tag, header.compound) != (0, _SEQUENCE, True):
        found = f"{{class:{header.kind} tag:{header.tag} length:{header.length} isCompound:{str(header.compound).lower()}}}"
        where = f"{_PARAMETERS} {go_type} @{header.begins}"
        return f"asn1: structure error: tags don't match ({_SEQUENCE} vs {found}) {where}"
    if header.begins + header.length > len(der):
        return "asn1: syntax error: data truncated"
    return "asn1: syntax error: trailing data" if header.begins + header.length < len(der) else ""


def _header(der: bytes) -> _Header | None:
    """The header of a value; None where it is cut short, or longer than any that is used here."""
    first = der[0]
    if len(der) < 2 or first & 0x1F == 0x1F:
        return None
    length, begins = der[1], 2
    if length & 0x80:
        count = length & 0x7F
        if not 0 < count <= 4 or len(der) < 2 + count:
            return None
        length, begins = int.from_bytes(der[2 : 2 + count], "big"), 2 + count
    return _Header(first >> 6, bool(first & 0x20), first & 0x1F, length, begins)
