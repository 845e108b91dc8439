"""Files of configuration that Kubernetes gives a kind and versions to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def read(file: Path, kind: str, versions: Sequence[str]) -> Mapping[str, Any]:
    """The document in a file; raises ValueError that names what is wrong, OSError."""
    document = read_object(file)
    if document.get("kind") != kind or document.get("apiVersion") not in versions:
        raise ValueError(f"expected an {kind} of {versions[0]}")
    return document


def read_object(file: Path) -> Mapping[str, Any]:
    """The same, of any kind."""
    import yaml

    try:
        document = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{file.name} is no YAML: {' '.join(str(error).split())}") from error
    if isinstance(document, dict):
        return document
    raise ValueError(f"{file.name} is no object")
