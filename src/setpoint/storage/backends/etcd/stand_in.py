r"""How an object that contains its own revision is written where the revision is known only afterwards.

What goes to etcd holds a stand-in where the resourceVersion will be, and whoever reads it puts the revision there:

    written   {"kind":"ConfigMap",…,"resourceVersion":"\/k3v9.1f",…}
    read      {"kind":"ConfigMap",…,"resourceVersion":"1234",…}

It is valid JSON, and it cannot be mistaken: an escaped slash is allowed, but no encoder of ours ever writes one, so the bytes
`"\/` occur nowhere else, whatever users put into their objects. The rest of it names the write, for this process and all others:
that is how the outcome of a write whose answer was lost is told apart from another's (`writes`).
"""

from __future__ import annotations

import secrets

from setpoint.storage.protocol import Encode, Encoded

_BEGIN = b'"\\/'
#: what `encode` is called with: digits that nobody can know beforehand
_UNKNOWN = (1 << 62) + secrets.randbits(60)
_DIGITS = b'"%d"' % _UNKNOWN


def encode_unknown(encode: Encode, name: bytes) -> tuple[Encoded, bool]:
    """The object with a stand-in that bears the write's `name`; whether it has one (an object need not tell its revision)."""
    encoded = encode(_UNKNOWN)
    value = encoded.value.replace(_DIGITS, _BEGIN + name + b'"', 1)
    return Encoded(value, encoded.selection), value is not encoded.value and value != encoded.value


def reveal(value: bytes, revision: int) -> bytes:
    """A stored object with its revision in it."""
    start = value.find(_BEGIN)
    if start < 0:
        return value
    end = value.index(b'"', start + 3)
    return b'%b"%d%b' % (value[:start], revision, value[end:])


def name_of(value: bytes) -> bytes:
    """The name of the write that left this object; empty for none."""
    start = value.find(_BEGIN)
    return value[start + 3 : value.index(b'"', start + 3)] if start >= 0 else b""
