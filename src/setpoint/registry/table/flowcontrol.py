"""The resources of flowcontrol.apiserver.k8s.io."""

from __future__ import annotations

from setpoint.registry.flowcontrol.flow_schema import FlowSchemaStrategy, flow_schema_status
from setpoint.registry.flowcontrol.priority_level import PriorityLevelStrategy, priority_level_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="flowcontrol.apiserver.k8s.io",
        versions=("v1",),
        plural="flowschemas",
        singular="flowschema",
        kind="FlowSchema",
        namespaced=False,
        strategy=FlowSchemaStrategy(),
        definitions=definitions("flowcontrol", "FlowSchema"),
        subresources=(status("FlowSchema", flow_schema_status()),),
    ),
    ServedResource(
        group="flowcontrol.apiserver.k8s.io",
        versions=("v1",),
        plural="prioritylevelconfigurations",
        singular="prioritylevelconfiguration",
        kind="PriorityLevelConfiguration",
        namespaced=False,
        strategy=PriorityLevelStrategy(),
        definitions=definitions("flowcontrol", "PriorityLevelConfiguration"),
        subresources=(status("PriorityLevelConfiguration", priority_level_status()),),
    ),
)
