"""Resources that came after the minor of the table, without rules of their own: stored and served as their schemas say."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions, status

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (("storagemigration.k8s.io", ("v1",)),)

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="certificates.k8s.io",
        versions=("v1",),
        plural="clustertrustbundles",
        singular="clustertrustbundle",
        kind="ClusterTrustBundle",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("certificates", "ClusterTrustBundle"),
    ),
    ServedResource(
        group="certificates.k8s.io",
        versions=("v1",),
        plural="podcertificaterequests",
        singular="podcertificaterequest",
        kind="PodCertificateRequest",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("certificates", "PodCertificateRequest"),
        subresources=(status("PodCertificateRequest", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="resource.k8s.io",
        versions=("v1",),
        plural="devicetaintrules",
        singular="devicetaintrule",
        kind="DeviceTaintRule",
        namespaced=False,
        strategy=SpecStatusStrategy(),
        definitions=definitions("resource", "DeviceTaintRule"),
        subresources=(status("DeviceTaintRule", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="storagemigration.k8s.io",
        versions=("v1",),
        plural="storageversionmigrations",
        singular="storageversionmigration",
        kind="StorageVersionMigration",
        namespaced=False,
        strategy=SpecStatusStrategy(),
        definitions=definitions("storagemigration", "StorageVersionMigration"),
        subresources=(status("StorageVersionMigration", StatusStrategy(SpecStatusStrategy())),),
    ),
)
