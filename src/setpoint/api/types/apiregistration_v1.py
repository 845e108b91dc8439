"""apiregistration/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class ServiceReference(View, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    port: int | None = None


class APIServiceSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "ca_bundle": "caBundle",
        "group_priority_minimum": "groupPriorityMinimum",
        "insecure_skip_tls_verify": "insecureSkipTLSVerify",
        "version_priority": "versionPriority",
    },
):
    ca_bundle: str = ""
    group: str = ""
    group_priority_minimum: int = 0
    insecure_skip_tls_verify: bool = False
    service: ServiceReference | None = None
    version: str = ""
    version_priority: int = 0


class APIServiceCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class APIServiceStatus(View, frozen=True, kw_only=True):
    conditions: tuple[APIServiceCondition, ...] = ()


class APIService(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: APIServiceSpec = APIServiceSpec()
    status: APIServiceStatus = APIServiceStatus()


class APIServiceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[APIService, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


APISERVICES: Resource[APIService] = Resource("apiregistration.k8s.io", "v1", "apiservices", "APIService", False, APIService)
