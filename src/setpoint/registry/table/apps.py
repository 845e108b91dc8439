"""The resources of apps."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions, scale, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="controllerrevisions",
        singular="controllerrevision",
        kind="ControllerRevision",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("apps", "ControllerRevision"),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="daemonsets",
        singular="daemonset",
        kind="DaemonSet",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("apps", "DaemonSet"),
        short_names=("ds",),
        categories=("all",),
        subresources=(status("DaemonSet", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="deployments",
        singular="deployment",
        kind="Deployment",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("apps", "Deployment"),
        short_names=("deploy",),
        categories=("all",),
        subresources=(
            scale(),
            status("Deployment", StatusStrategy(SpecStatusStrategy())),
        ),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="replicasets",
        singular="replicaset",
        kind="ReplicaSet",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("apps", "ReplicaSet"),
        short_names=("rs",),
        categories=("all",),
        subresources=(
            scale(),
            status("ReplicaSet", StatusStrategy(SpecStatusStrategy())),
        ),
    ),
    ServedResource(
        group="apps",
        versions=("v1",),
        plural="statefulsets",
        singular="statefulset",
        kind="StatefulSet",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("apps", "StatefulSet"),
        short_names=("sts",),
        categories=("all",),
        subresources=(
            scale(),
            status("StatefulSet", StatusStrategy(SpecStatusStrategy())),
        ),
    ),
)
