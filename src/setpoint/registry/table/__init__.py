"""Every resource of Kubernetes 1.36, as one literal table; a module per group.

`RESOURCES` is in the order of discovery. Importing it loads no schema.
"""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.table import (
    admissionregistration,
    apiextensions,
    apiregistration,
    apps,
    authentication,
    authorization,
    autoscaling,
    batch,
    certificates,
    coordination,
    core,
    discovery,
    events,
    flowcontrol,
    networking,
    node,
    policy,
    rbac,
    resource,
    scheduling,
    storage,
)

#: groups in the order in which discovery gives them, each with its versions, the preferred one first
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("v1",)),
    ("apiregistration.k8s.io", ("v1",)),
    ("apps", ("v1",)),
    ("events.k8s.io", ("v1",)),
    ("authentication.k8s.io", ("v1",)),
    ("authorization.k8s.io", ("v1",)),
    ("autoscaling", ("v2", "v1")),
    ("batch", ("v1",)),
    ("certificates.k8s.io", ("v1",)),
    ("networking.k8s.io", ("v1",)),
    ("policy", ("v1",)),
    ("rbac.authorization.k8s.io", ("v1",)),
    ("storage.k8s.io", ("v1",)),
    ("admissionregistration.k8s.io", ("v1",)),
    ("apiextensions.k8s.io", ("v1",)),
    ("scheduling.k8s.io", ("v1",)),
    ("coordination.k8s.io", ("v1",)),
    ("node.k8s.io", ("v1",)),
    ("discovery.k8s.io", ("v1",)),
    ("resource.k8s.io", ("v1",)),
    ("flowcontrol.apiserver.k8s.io", ("v1",)),
)

RESOURCES: tuple[ServedResource, ...] = (
    *core.RESOURCES,
    *apiregistration.RESOURCES,
    *apps.RESOURCES,
    *events.RESOURCES,
    *authentication.RESOURCES,
    *authorization.RESOURCES,
    *autoscaling.RESOURCES,
    *batch.RESOURCES,
    *certificates.RESOURCES,
    *networking.RESOURCES,
    *policy.RESOURCES,
    *rbac.RESOURCES,
    *storage.RESOURCES,
    *admissionregistration.RESOURCES,
    *apiextensions.RESOURCES,
    *scheduling.RESOURCES,
    *coordination.RESOURCES,
    *node.RESOURCES,
    *discovery.RESOURCES,
    *resource.RESOURCES,
    *flowcontrol.RESOURCES,
)
