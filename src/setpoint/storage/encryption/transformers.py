"""How one value is sealed: by one key of one provider, named in front of the value.

    k8s:enc:aesgcm:v1:<key>:<nonce, 12 bytes><ciphertext and tag>
    k8s:enc:aescbc:v1:<key>:<initialisation vector, 16 bytes><ciphertext>
    k8s:enc:secretbox:v1:<key>:<nonce, 24 bytes><tag and ciphertext>

AES-GCM also authenticates where the value lies, so a value that is moved to another key is not opened. Secretbox (XSalsa20 and
Poly1305) authenticates the value, not its place. AES-CBC authenticates nothing; it is there because Kubernetes has it.
Source: apiserver `pkg/storage/value/encrypt`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

#: what every sealed value begins with, and nothing that is plain JSON
SEALED = b"k8s:enc:"
_NONCE, _LONG_NONCE = 12, 24
_BLOCK = 16


class CannotOpen(Exception):
    """The key is not this value's."""


class NotReady(Exception):
    """Nothing can be sealed now."""


class Transformer(Protocol):
    """One key. `prefix` is what its values begin with; empty for values that are not sealed.

    `mark` tells by which key values are sealed now, `mark_of` by which a value was sealed; both begin with the prefix.
    """

    @property
    def prefix(self) -> bytes: ...
    @property
    def mark(self) -> bytes: ...
    def mark_of(self, sealed: bytes) -> bytes: ...
    def ready(self) -> None:
        """Raises NotReady where nothing is to be sealed."""

    def seal(self, value: bytes, place: bytes) -> bytes:
        """The value as it is stored at `place`, without the prefix."""

    def open(self, sealed: bytes, place: bytes) -> bytes:
        """The value again; raises CannotOpen."""


class _OneKey:
    """What all have whose key never changes."""

    prefix = b""

    @property
    def mark(self) -> bytes:
        return self.prefix

    def mark_of(self, sealed: bytes) -> bytes:
        return self.prefix

    def ready(self) -> None:
        """There is always something to seal with."""


class Identity(_OneKey):
    """Leaves values as they are."""

    def seal(self, value: bytes, place: bytes) -> bytes:
        return value

    def open(self, sealed: bytes, place: bytes) -> bytes:
        return sealed


class AESGCM(_OneKey):
    """AES in Galois/Counter Mode with random nonces: rotate a key before it has sealed some 2**32 values."""

    def __init__(self, name: str, key: bytes) -> None:
        self.prefix = f"k8s:enc:aesgcm:v1:{name}:".encode()
        self._key = key
        self._made: Any = None

    def _cipher(self) -> Any:
        if self._made is None:
            from cryptography.hazmat.primitives.ciphers import aead

            self._made = aead.AESGCM(self._key)
        return self._made

    def seal(self, value: bytes, place: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        sealed: bytes = self._cipher().encrypt(nonce, value, place)
        return nonce + sealed

    def open(self, sealed: bytes, place: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        if len(sealed) < 2 * _BLOCK - 4:  # nonce and tag
            raise CannotOpen("the stored data was shorter than the required size")
        try:
            value: bytes = self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], place)
        except InvalidTag:
            raise CannotOpen("cipher: message authentication failed") from None
        return value


class AESCBC(_OneKey):
    """AES in Cipher Block Chaining mode with PKCS#7 padding."""

    def __init__(self, name: str, key: bytes) -> None:
        self.prefix = f"k8s:enc:aescbc:v1:{name}:".encode()
        self._key = key

    def _cipher(self, vector: bytes) -> Any:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        return Cipher(algorithms.AES(self._key), modes.CBC(vector))

    def seal(self, value: bytes, place: bytes) -> bytes:
        vector = os.urandom(_BLOCK)
        missing = _BLOCK - len(value) % _BLOCK
        encryptor = self._cipher(vector).encryptor()
        sealed: bytes = encryptor.update(value + bytes([missing]) * missing) + encryptor.finalize()
        return vector + sealed

    def open(self, sealed: bytes, place: bytes) -> bytes:
        vector, blocks = sealed[:_BLOCK], sealed[_BLOCK:]
        if not blocks or len(blocks) % _BLOCK:
            raise CannotOpen("the stored data is not a multiple of the block size")
        decryptor = self._cipher(vector).decryptor()
        padded: bytes = decryptor.update(blocks) + decryptor.finalize()
        missing = padded[-1]
        if not 1 <= missing <= _BLOCK or padded[-missing:] != bytes([missing]) * missing:
            raise CannotOpen("invalid padding on input")
        return padded[:-missing]


class Secretbox(_OneKey):
    """NaCl's secretbox with random nonces, which are long enough for any number of values."""

    def __init__(self, name: str, key: bytes) -> None:
        self.prefix = f"k8s:enc:secretbox:v1:{name}:".encode()
        self._key = key
        self._made: Any = None

    def _box(self) -> Any:
        if self._made is None:
            from nacl import secret

            self._made = secret.SecretBox(self._key)
        return self._made

    def seal(self, value: bytes, place: bytes) -> bytes:
        return bytes(self._box().encrypt(value))

    def open(self, sealed: bytes, place: bytes) -> bytes:
        from nacl.exceptions import CryptoError

        if len(sealed) < _LONG_NONCE + _BLOCK:  # nonce and tag
            raise CannotOpen("the stored data was shorter than the required size")
        try:
            value: bytes = self._box().decrypt(sealed)
        except CryptoError:
            raise CannotOpen("message authentication failed") from None
        return value


MAKERS: dict[str, Callable[[str, bytes], Transformer]] = {"aesgcm": AESGCM, "aescbc": AESCBC, "secretbox": Secretbox}


def name_in(value: bytes) -> bytes:
    """What a stored value says of its key, the prefix; empty for a plain one."""
    if not value.startswith(SEALED):
        return b""
    end = 0
    for _ in range(5):
        end = value.find(b":", end) + 1
        if not end:
            return SEALED
    return value[:end]
