"""The key that signs service account tokens, and what is published of it.

RSA with RS256, as kube-apiserver has it by default and as the tools that verify tokens from outside expect. Making such a key
takes some 40 ms, mostly without the GIL: at the first start of a cluster a thread makes it while the rest starts. A key that was
put there by hand may be on a curve, too (ES256).
Source: Kubernetes `pkg/serviceaccount/jwt.go`, `openidmetadata.go`.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from setpoint.apiserver.pki import write_private


class SigningKey:
    """The key pair in `<directory>/sa.key` and `sa.pub`; made in the background when absent.

    Its use may wait for it, some tens of milliseconds at the most, and only in the first moments of a cluster's life.
    """

    def __init__(self, directory: Path) -> None:
        self.file = directory / "sa.key"
        self._public_file = directory / "sa.pub"
        self._making: threading.Thread | None = None
        if not self.file.exists():
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._making = threading.Thread(target=self._make, name="service-account-key")
            self._making.start()

    def _make(self) -> None:
        from setpoint.apiserver.signing import new_key_pair

        public, private = new_key_pair()
        write_private(self._public_file, public)
        write_private(self.file, private, sync=True)

    def finish(self) -> None:
        """Wait until it is there."""
        if self._making is not None:
            self._making.join()
            self._making = None

    @cached_property
    def private(self) -> Any:
        """Cryptography's private key."""
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        self.finish()
        return load_pem_private_key(self.file.read_bytes(), None)

    @cached_property
    def public(self) -> Any:
        return self.private.public_key()

    @cached_property
    def algorithm(self) -> str:
        """JOSE's name of the signatures: RS256, or ES256 where the key is on a curve."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

        return "RS256" if isinstance(self.private, RSAPrivateKey) else "ES256"

    @cached_property
    def id(self) -> str:
        """The key's id: the digest of its public half, as Kubernetes reckons it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        digest = hashlib.sha256(self.public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def published(self) -> dict[str, Any]:
        """The JSON Web Key Set (RFC 7517) of the public key."""
        import jwt

        algorithm: Any = jwt.get_algorithm_by_name(self.algorithm)
        key = algorithm.to_jwk(self.public, as_dict=True)
        key.pop("key_ops", None)
        return {"keys": [{"use": "sig", "kty": key.pop("kty"), "kid": self.id, "alg": self.algorithm, **key}]}
