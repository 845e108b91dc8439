"""Strategies of Services.

Source: `pkg/registry/core/service/strategy.go`, `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError
from setpoint.registry.service import needs
from setpoint.registry.service.addresses import change_errors, keep_allocated, normalise, settle_families
from setpoint.registry.service.type_change import drop_dependent
from setpoint.registry.service.validation import (
    health_check_change,
    load_balancer_class,
    validate_service,
    validate_status,
)
from setpoint.registry.service.warnings import service_warnings, status_warnings
from setpoint.registry.spec_status import StatusStrategy, keep_field
from setpoint.registry.strategy import Context, Object, Strategy

_AFFINITY_SECONDS = 10800


class ServiceStrategy(Strategy):
    """The main endpoint. Addresses and ports are allocated after validation (`allocation`)."""

    allow_create_on_update: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    delete_returns_object: ClassVar[bool] = True
    reset_fields = (("status",),)
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"spec.clusterIP", "spec.type"})

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["type"] = spec.get("type") or "ClusterIP"
        _default_affinity(spec)
        for port in spec.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"
            port["targetPort"] = port.get("targetPort") or port.get("port", 0)
        if needs.externally_accessible(spec):
            spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
        if needs.internal_traffic_policy(spec):
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec["type"] == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)
            for entry in ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ():
                if entry.get("ip"):
                    entry.setdefault("ipMode", "VIP")

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"loadBalancer": {}}
        normalise(obj["spec"], None)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        """What the addresses' families cannot be is complained about alone, as Kubernetes allocates before it validates."""
        return settle_families(obj["spec"]) or validate_service(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        spec, before = obj["spec"], old.get("spec") or {}
        keep_allocated(spec, before)
        normalise(spec, before)
        keep_field(obj, old, "status")
        drop_dependent(obj, before)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        spec, before = obj["spec"], old.get("spec") or {}
        family_errors = settle_families(spec, before) if needs.cluster_ip(spec) else []
        if family_errors:
            return family_errors
        errors = change_errors(spec, before)
        errors += load_balancer_class(spec, before)
        errors += health_check_change(spec, before)
        return errors + validate_service(obj)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.dns_label(name, prefix=prefix)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return service_warnings(obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        spec = obj.get("spec") or {}
        return {"spec.clusterIP": spec.get("clusterIP", ""), "spec.type": spec.get("type", "")}


def _default_affinity(spec: Object) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}


class ServiceStatusStrategy(StatusStrategy):
    """The `status` endpoint."""

    def __init__(self) -> None:
        super().__init__(ServiceStrategy(), validate_status=lambda obj, _: validate_status(obj))

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return status_warnings(obj.get("status") or {})
