"""Default requests and limits of containers, and the annotation that tells of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.registry.strategy import Object

ANNOTATION = "kubernetes.io/limit-ranger"


def set_defaults(pod: Object, limits: Sequence[Mapping[str, Any]]) -> None:
    """Give every container what it does not ask for itself."""
    wanted = _wanted(limits)
    spec = pod.get("spec") or {}
    told: list[str] = []
    for field, title in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(field) or ():
            told += _fill(container, wanted, f"{title} {container.get('name', '')}")
    if told:
        metadata = pod["metadata"]
        text = "LimitRanger plugin set: " + "; ".join(told)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def _wanted(limits: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    wanted: dict[str, dict[str, str]] = {"requests": {}, "limits": {}}
    for limit in limits:
        if limit.get("type") == "Container":
            wanted["requests"].update(limit.get("defaultRequest") or {})
            wanted["limits"].update(limit.get("default") or {})
    return wanted


def _fill(container: Object, wanted: Mapping[str, Mapping[str, str]], title: str) -> list[str]:
    resources = dict(container.get("resources") or {})
    told = []
    for side, word in (("requests", "request"), ("limits", "limit")):
        own = resources.get(side) or {}
        if missing := {name: value for name, value in wanted[side].items() if name not in own}:
            resources[side] = {**own, **missing}
            told.append(f"{', '.join(sorted(missing))} {word} for {title}")
    container["resources"] = resources
    return told
