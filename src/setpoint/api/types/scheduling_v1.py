"""scheduling/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class PriorityClass(
    View,
    frozen=True,
    kw_only=True,
    rename={"api_version": "apiVersion", "global_default": "globalDefault", "preemption_policy": "preemptionPolicy"},
):
    api_version: str = ""
    description: str = ""
    global_default: bool = False
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    preemption_policy: str | None = None
    value: int = 0


class PriorityClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PriorityClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


PRIORITYCLASSES: Resource[PriorityClass] = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, PriorityClass
)
