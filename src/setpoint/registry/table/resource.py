"""The resources of resource.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="deviceclasses",
        singular="deviceclass",
        kind="DeviceClass",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("resource", "DeviceClass"),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceclaims",
        singular="resourceclaim",
        kind="ResourceClaim",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("resource", "ResourceClaim"),
        subresources=(status("ResourceClaim", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceclaimtemplates",
        singular="resourceclaimtemplate",
        kind="ResourceClaimTemplate",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("resource", "ResourceClaimTemplate"),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceslices",
        singular="resourceslice",
        kind="ResourceSlice",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("resource", "ResourceSlice"),
    ),
)
