"""The resources of apps."""

from __future__ import annotations

from setpoint.registry.apps.controller_revision import ControllerRevisionStrategy
from setpoint.registry.apps.daemon_set import DaemonSetStrategy, daemon_set_status
from setpoint.registry.apps.deployment import DeploymentStrategy, deployment_status
from setpoint.registry.apps.replica_set import ReplicaSetStrategy, replica_set_status
from setpoint.registry.apps.stateful_set import StatefulSetStrategy, stateful_set_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, scale, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="controllerrevisions",
        singular="controllerrevision",
        kind="ControllerRevision",
        namespaced=True,
        strategy=ControllerRevisionStrategy(),
        definitions=definitions("apps", "ControllerRevision"),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="daemonsets",
        singular="daemonset",
        kind="DaemonSet",
        namespaced=True,
        strategy=DaemonSetStrategy(),
        definitions=definitions("apps", "DaemonSet"),
        short_names=("ds",),
        categories=("all",),
        subresources=(status("DaemonSet", daemon_set_status()),),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="deployments",
        singular="deployment",
        kind="Deployment",
        namespaced=True,
        strategy=DeploymentStrategy(),
        definitions=definitions("apps", "Deployment"),
        short_names=("deploy",),
        categories=("all",),
        subresources=(
            scale(),
            status("Deployment", deployment_status()),
        ),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="replicasets",
        singular="replicaset",
        kind="ReplicaSet",
        namespaced=True,
        strategy=ReplicaSetStrategy(),
        definitions=definitions("apps", "ReplicaSet"),
        short_names=("rs",),
        categories=("all",),
        subresources=(
            scale(),
            status("ReplicaSet", replica_set_status()),
        ),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="statefulsets",
        singular="statefulset",
        kind="StatefulSet",
        namespaced=True,
        strategy=StatefulSetStrategy(),
        definitions=definitions("apps", "StatefulSet"),
        short_names=("sts",),
        categories=("all",),
        subresources=(
            scale(),
            status("StatefulSet", stateful_set_status()),
        ),
    ),
)
