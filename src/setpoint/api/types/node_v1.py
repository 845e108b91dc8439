"""node/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class Overhead(View, frozen=True, kw_only=True, rename={"pod_fixed": "podFixed"}):
    pod_fixed: Mapping[str, str] = {}


class Scheduling(View, frozen=True, kw_only=True, rename={"node_selector": "nodeSelector"}):
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[core_v1.Toleration, ...] = ()


class RuntimeClass(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    handler: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None


class RuntimeClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[RuntimeClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


RUNTIMECLASSES: Resource[RuntimeClass] = Resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", False, RuntimeClass)
