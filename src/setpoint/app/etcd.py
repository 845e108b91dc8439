"""What differs when the store is an etcd that other API servers share."""

from __future__ import annotations

import hashlib
from pathlib import Path

from setpoint.app.options import Options, StartError
from setpoint.kit.clock import Clock
from setpoint.registry.admission.reader import Getter
from setpoint.storage.encryption.values import Values
from setpoint.storage.protocol import Store

_ROOT_CA = ("configmaps", "kube-system", "kube-root-ca.crt")


def store(options: Options, clock: Clock, values: Values) -> Store:
    """The store at `etcd://…`, not yet open; raises StartError where the options make no sense."""
    from setpoint.storage.backends.etcd.members import Members, parse
    from setpoint.storage.backends.etcd.store import etcd_store

    try:
        addresses, secure = parse(options.store)
    except ValueError as error:
        raise StartError(f"--store {options.store}: {error}") from error
    chosen = options.etcd
    if bool(chosen.certificate_file) != bool(chosen.key_file):
        raise StartError("--etcd-certfile and --etcd-keyfile belong together")
    members = Members(
        addresses,
        ca_file=_path(chosen.ca_file),
        certificate_file=_path(chosen.certificate_file),
        key_file=_path(chosen.key_file),
        root=chosen.prefix,
        secure=secure,
    )
    return etcd_store(members, clock, values=values)


def _path(text: str) -> Path | None:
    return Path(text) if text else None


async def check_authority(objects: Getter, pem: str, pki: Path) -> None:
    """Refuse to serve a cluster whose clients trust another CA: certificates and tokens of one server must hold at all.

    Raises StartError. The CA that a cluster knows is in the ConfigMap that every namespace has.
    """
    known = await objects.get(*_ROOT_CA)
    held = ((known or {}).get("data") or {}).get("ca.crt")
    if held is not None and _digest(held) != _digest(pem):
        raise StartError(
            f"the cluster in etcd has another CA than {pki}: copy ca.*, sa.* and front-proxy/ca.* there from one of its servers"
        )


def _digest(pem: str) -> str:
    return hashlib.sha256("".join(pem.split()).encode()).hexdigest()
