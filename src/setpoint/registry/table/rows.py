"""The words that rows of the table repeat."""

from __future__ import annotations

from setpoint.registry.resource import Subresource
from setpoint.registry.strategy import Strategy

CHANGE_VERBS = ("get", "patch", "update")
PROXY_VERBS = ("create", "delete", "get", "patch", "update")


def definitions(package: str, kind: str, *versions: str) -> dict[str, str]:
    """The names of a kind's schema definitions: `definitions("apps", "Deployment", "v1")`."""
    prefix = package if "." in package else f"io.k8s.api.{package}"
    return {version: f"{prefix}.{version}.{kind}" for version in versions or ("v1",)}


def status(kind: str, strategy: Strategy) -> Subresource:
    return Subresource("status", CHANGE_VERBS, kind, strategy=strategy)


def scale() -> Subresource:
    """Reads and writes `spec.replicas` of the parent as an `autoscaling/v1` Scale; has a handler of its own."""
    return Subresource("scale", CHANGE_VERBS, "Scale", group="autoscaling", version="v1")
