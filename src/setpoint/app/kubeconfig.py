"""Writing kubeconfigs: one of our own, or a context merged into the user's."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setpoint.apiserver.pki import KeyPair, write_private

NAME = "setpoint"


def document(server: str, ca_file: Path, pair: KeyPair, user: str = "admin") -> dict[str, Any]:
    """A kubeconfig that holds everything it needs (certificates as data)."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": {"server": server, "certificate-authority-data": _data(ca_file)}}],
        "users": [
            {
                "name": f"{NAME}-{user}",
                "user": {"client-certificate-data": _data(pair.certificate), "client-key-data": _data(pair.key)},
            }
        ],
        "contexts": [
            {
                "name": NAME,
                "context": {"cluster": NAME, "user": f"{NAME}-{user}"},
            }
        ],
        "current-context": NAME,
    }


def write(file: Path, config: Mapping[str, Any]) -> None:
    """Write a kubeconfig that only its user may read. JSON is YAML, and much faster to make."""
    import orjson

    write_private(file, orjson.dumps(config, option=orjson.OPT_INDENT_2))


def merge_into(file: Path, config: Mapping[str, Any]) -> None:
    """Add our cluster, user and context to the kubeconfig in `file`, replacing those of the same names, and make it current.

    A link stays one. Raises ValueError where the file holds no kubeconfig, OSError.
    """
    import yaml

    file = file.resolve()
    try:
        held = (yaml.safe_load(file.read_text()) if file.exists() else None) or {"apiVersion": "v1", "kind": "Config"}
    except yaml.YAMLError as error:
        raise ValueError(f"{file} is no YAML: {error}") from error
    if not isinstance(held, dict):
        raise ValueError(f"{file} holds no kubeconfig")  # noqa: TRY004  of a file's content, not of an argument
    for key in ("clusters", "users", "contexts"):
        ours = {entry["name"] for entry in config[key]}
        held[key] = [entry for entry in held.get(key) or [] if entry["name"] not in ours] + list(config[key])
    held["current-context"] = config["current-context"]
    write_private(file, yaml.safe_dump(held, sort_keys=False).encode())


def _data(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
