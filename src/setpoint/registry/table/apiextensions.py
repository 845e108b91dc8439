"""The resources of apiextensions.k8s.io."""

from __future__ import annotations

from setpoint.registry.apiextensions.definition import DefinitionStrategy, definition_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="apiextensions.k8s.io",
        versions=("v1",),
        plural="customresourcedefinitions",
        singular="customresourcedefinition",
        kind="CustomResourceDefinition",
        namespaced=False,
        strategy=DefinitionStrategy(),
        definitions=definitions("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions", "CustomResourceDefinition"),
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        subresources=(status("CustomResourceDefinition", definition_status()),),
    ),
)
