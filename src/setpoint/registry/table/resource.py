"""The resources of resource.k8s.io."""

from __future__ import annotations

from setpoint.registry.dynamic_resources.claim import (
    ResourceClaimStrategy,
    ResourceClaimTemplateStrategy,
    resource_claim_status,
)
from setpoint.registry.dynamic_resources.device_class import DeviceClassStrategy
from setpoint.registry.dynamic_resources.resource_slice import ResourceSliceStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="deviceclasses",
        singular="deviceclass",
        kind="DeviceClass",
        namespaced=False,
        strategy=DeviceClassStrategy(),
        definitions=definitions("resource", "DeviceClass"),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceclaims",
        singular="resourceclaim",
        kind="ResourceClaim",
        namespaced=True,
        strategy=ResourceClaimStrategy(),
        definitions=definitions("resource", "ResourceClaim"),
        subresources=(status("ResourceClaim", resource_claim_status()),),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceclaimtemplates",
        singular="resourceclaimtemplate",
        kind="ResourceClaimTemplate",
        namespaced=True,
        strategy=ResourceClaimTemplateStrategy(),
        definitions=definitions("resource", "ResourceClaimTemplate"),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="resourceslices",
        singular="resourceslice",
        kind="ResourceSlice",
        namespaced=False,
        strategy=ResourceSliceStrategy(),
        definitions=definitions("resource", "ResourceSlice"),
    ),
)
