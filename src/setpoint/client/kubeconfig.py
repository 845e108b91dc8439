"""Kubeconfig files and the credentials that a pod finds in itself: where a server is and how to be somebody there."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubeconfigError(ValueError):
    """The file cannot be read, or says nothing usable."""


@dataclass(frozen=True, slots=True, repr=False)
class Access:
    """A server and an identity. Certificates and keys are PEM text or paths of PEM files."""

    server: str
    ca_data: str = ""
    ca_file: str = ""
    insecure: bool = False
    certificate_data: str = ""
    certificate_file: str = ""
    key_data: str = ""
    key_file: str = ""
    token: str = ""
    namespace: str = "default"

    def __repr__(self) -> str:
        return f"Access({self.server!r})"

    @contextlib.contextmanager
    def certificate_files(self) -> Iterator[tuple[str, str] | None]:
        """Paths of the client certificate and its key while in the block (OpenSSL reads files only); None without one."""
        if not (self.certificate_data or self.certificate_file):
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="setpoint-") as folder:
            yield (
                _written(folder, "tls.crt", self.certificate_data) if self.certificate_data else self.certificate_file,
                _written(folder, "tls.key", self.key_data) if self.key_data else self.key_file,
            )


def _written(folder: str, name: str, text: str) -> str:
    path = Path(folder, name)
    path.touch(mode=0o600)
    path.write_text(text)
    return str(path)


def load(path: str | os.PathLike[str] | None = None, context: str = "") -> Access:
    """The access of a context (the current one by default) of a file, of $KUBECONFIG, or of ~/.kube/config.

    Raises KubeconfigError. Exec plugins and user names with passwords are not supported.
    """
    file = Path(path or os.environ.get("KUBECONFIG", "").split(os.pathsep)[0] or Path.home() / ".kube" / "config")
    return parse(read(file), context, base=file.parent)


def read(file: Path) -> Mapping[str, Any]:
    """The content of a kubeconfig; raises KubeconfigError."""
    import yaml

    try:
        config = yaml.load(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  # both are safe loaders
    except (OSError, yaml.YAMLError) as error:
        raise KubeconfigError(f"cannot read {file}: {error}") from error
    if not isinstance(config, dict):
        raise KubeconfigError(f"{file} is no kubeconfig")
    return config


def parse(config: Mapping[str, Any], context: str = "", base: Path | None = None) -> Access:
    """The access that `config` (a kubeconfig's content) describes; relative paths count from `base`."""
    chosen = _named(config, "contexts", context or config.get("current-context", ""), "context")
    cluster = _named(config, "clusters", chosen.get("cluster", ""), "cluster")
    named = _named(config, "users", chosen.get("user", ""), "user") if chosen.get("user") else {}
    if not cluster.get("server"):
        raise KubeconfigError("the cluster has no server")
    token = named.get("token", "")
    if not token and named.get("tokenFile"):
        token = Path(_resolved(base, named["tokenFile"])).read_text().strip()
    return Access(
        server=cluster["server"],
        ca_data=_decoded(cluster, "certificate-authority-data"),
        ca_file=_resolved(base, cluster.get("certificate-authority", "")),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        token=token,
        namespace=chosen.get("namespace") or "default",
        **_certificate(named, base),
    )


def user(section: Mapping[str, Any], base: Path | None = None) -> Access:
    """What a user of a kubeconfig has for a certificate, as the access to no server."""
    return Access("", **_certificate(section, base))


def _certificate(section: Mapping[str, Any], base: Path | None) -> dict[str, Any]:
    return {
        "certificate_data": _decoded(section, "client-certificate-data"),
        "certificate_file": _resolved(base, section.get("client-certificate", "")),
        "key_data": _decoded(section, "client-key-data"),
        "key_file": _resolved(base, section.get("client-key", "")),
    }


def in_cluster(environment: Mapping[str, str] = os.environ, folder: Path = _POD) -> Access:
    """The access that a pod has through its service account; raises KubeconfigError outside of one."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError("this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
    try:
        token = (folder / "token").read_text()
        namespace = (folder / "namespace").read_text()
    except OSError as error:
        raise KubeconfigError(f"cannot read the service account: {error}") from error
    shown = f"[{host}]" if ":" in host else host
    return Access(f"https://{shown}:{port}", ca_file=str(folder / "ca.crt"), token=token.strip(), namespace=namespace.strip())


def _named(config: Mapping[str, Any], section: str, name: str, key: str) -> Mapping[str, Any]:
    for entry in config.get(section) or ():
        if entry.get("name") == name:
            found: Mapping[str, Any] = entry.get(key) or {}
            return found
    raise KubeconfigError(f'no {key} "{name}" in the kubeconfig')


def _decoded(section: Mapping[str, Any], key: str) -> str:
    try:
        return base64.b64decode(section.get(key) or "", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{key} is not base64 of PEM text") from error


def _resolved(base: Path | None, path: str) -> str:
    return str(base / path) if path and base is not None else path
