"""The cluster's certificates: one CA made at first start, and what it signs.

All its keys are ECDSA P-256 (made in well under a millisecond) and lie in files that only the server's user may read. The key
of service accounts is apart (`authentication/signing_key.py`), so that rotating certificates leaves tokens valid. Layout of
`<data dir>/pki`: `ca.crt ca.key`, `<name>.crt <name>.key` for each certificate, `sa.key sa.pub`; `<name>.fits` says whom and
until when a certificate serves, so that a start with certificates that fit neither parses them nor imports cryptography
(`signing.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from setpoint.apiserver.signing import Signer

YEAR = 365 * 86_400  # seconds
_RENEW_BEFORE = 30 * 86_400

#: what a certificate may be used for: a server's or a client's side of TLS (RFC 5280's names)
SERVER = "serverAuth"
CLIENT = "clientAuth"


class KeyPair(Struct, frozen=True):
    """Paths of a certificate and its private key."""

    certificate: Path
    key: Path


class Subject(Struct, frozen=True):
    """Who a certificate speaks for: `name` is the user (CN), `groups` its groups (O), `addresses` the hosts it may serve as."""

    name: str
    groups: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    usages: tuple[str, ...] = (CLIENT,)


class Authority:
    """The cluster's CA in a directory; made there when absent."""

    def __init__(self, directory: Path, name: str = "setpoint-ca") -> None:
        self.directory = directory
        self._name = name
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.certificate_file = directory / "ca.crt"
        self._key_file = directory / "ca.key"
        if not self._key_file.exists() or not self.certificate_file.exists():
            self._create()

    @property
    def pem(self) -> str:
        """The CA's certificate, as kubeconfigs and kube-root-ca.crt hold it."""
        return self.certificate_file.read_text()

    @cached_property
    def _signer(self) -> Signer:
        from setpoint.apiserver.signing import Signer

        return Signer(self._key_file.read_bytes(), self.certificate_file.read_bytes())

    def _create(self) -> None:
        from setpoint.apiserver.signing import new_authority

        certificate, key = new_authority(self._name, 10 * YEAR)
        write_private(self._key_file, key, sync=True)
        write_private(self.certificate_file, certificate)

    def issue(self, file_name: str, subject: Subject) -> KeyPair:
        """The certificate kept under `file_name`: the present one if it still fits and is not about to expire, else a new one."""
        pair = KeyPair(self.directory / f"{file_name}.crt", self.directory / f"{file_name}.key")
        note = self.directory / f"{file_name}.fits"
        if not self._fits(pair, subject, note):
            certificate, key = self.sign(subject)
            write_private(pair.key, key)
            write_private(pair.certificate, certificate)
            write_private(note, self._note(pair, subject, int(time.time()) + YEAR))
        return pair

    def sign(self, subject: Subject, lifetime: int = YEAR) -> tuple[bytes, bytes]:
        """A new certificate and key (PEM both), for `lifetime` seconds."""
        return self._signer.sign(subject, lifetime)

    def sign_request(self, pem: bytes, usages: Sequence[str], seconds: int) -> bytes:
        """A certificate (PEM) for the key, subject and names of a PEM request; raises ValueError where that is not sound."""
        return self._signer.sign_request(pem, usages, seconds)

    def _fits(self, pair: KeyPair, subject: Subject, note: Path) -> bool:
        try:
            written = note.read_bytes()
            until = int(json.loads(written)["until"])
            return until > time.time() + _RENEW_BEFORE and written == self._note(pair, subject, until)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _note(self, pair: KeyPair, subject: Subject, until: int) -> bytes:
        """Whom and until when a certificate serves, and the digest of the files that this holds for."""
        digest = hashlib.sha256()
        for file in (self.certificate_file, pair.certificate, pair.key):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        about = [subject.name, subject.groups, sorted(subject.addresses), subject.usages]
        return json.dumps({"subject": about, "until": until, "files": digest.hexdigest()}).encode()


def write_private(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Write a file as a whole or not at all, readable by nobody else from its first moment (mode 0600).

    `sync`: a power cut after this leaves the whole file, too.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    # a file of our own, not one that somebody has put there: the directory may be everybody's
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    draft.replace(path)
