"""The resources of flowcontrol.apiserver.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="flowcontrol.apiserver.k8s.io",
        versions=("v1",),
        plural="flowschemas",
        singular="flowschema",
        kind="FlowSchema",
        namespaced=False,
        strategy=SpecStatusStrategy(),
        definitions=definitions("flowcontrol", "FlowSchema"),
        subresources=(status("FlowSchema", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="flowcontrol.apiserver.k8s.io",
        versions=("v1",),
        plural="prioritylevelconfigurations",
        singular="prioritylevelconfiguration",
        kind="PriorityLevelConfiguration",
        namespaced=False,
        strategy=SpecStatusStrategy(),
        definitions=definitions("flowcontrol", "PriorityLevelConfiguration"),
        subresources=(status("PriorityLevelConfiguration", StatusStrategy(SpecStatusStrategy())),),
    ),
)
