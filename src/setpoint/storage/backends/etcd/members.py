"""Where etcd is and how to prove oneself to it: `--store etcd://host:port[,host:port…]` and its options."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

SCHEMES = ("etcd://", "etcds://")
DEFAULT_PORT = 2379


class Members(Struct, frozen=True):
    """The members of one etcd, by address, and the files of TLS (PEM); `root` is the key under which everything lies.

    Without any of the files the connection is plain; with a CA it is TLS, with certificate and key the client proves itself.
    """

    addresses: tuple[str, ...]
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    root: str = "/registry"
    secure: bool = False

    @property
    def uses_tls(self) -> bool:
        """`etcds://`, or any file of TLS."""
        return self.secure or self.ca_file is not None or self.certificate_file is not None

    def __str__(self) -> str:
        return ", ".join(self.addresses)


def parse(url: str) -> tuple[tuple[str, ...], bool]:
    """The addresses of `etcd://…` (or `etcds://…`, with TLS) with their ports, and whether it is to be TLS.

    Raises ValueError with the reason.
    """
    scheme = next((each for each in SCHEMES if url.startswith(each)), "")
    if not scheme:
        raise ValueError("begins with neither etcd:// nor etcds://")
    words = [word.strip() for word in url.removeprefix(scheme).rstrip("/").split(",")]
    if not all(words):
        raise ValueError("an address is empty")
    return tuple(_with_port(word) for word in words), scheme == "etcds://"


def _with_port(address: str) -> str:
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        return f"{address}:{DEFAULT_PORT}"
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{address} is not host:port")
    return address
