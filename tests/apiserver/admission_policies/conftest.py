"""A server in which policies are in force as soon as they are written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from tests.apiserver.whole import Requests, whole_server

_GROUP = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}


class Api(Requests):
    """Requests to a server."""

    @property
    def warnings(self) -> list[str]:
        return list(self.response.warnings)

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.request.annotations

    async def validating(self, name: str, *validations: Any, actions: tuple[str, ...] = ("Deny",), **spec: Any) -> None:
        """Create a policy about config maps with a binding, and wait until it is in force."""
        binding = spec.pop("binding", {})
        given = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, "validations": list(map(_validation, validations)), **spec}
        await self(f"POST {_GROUP}/validatingadmissionpolicies", {"metadata": {"name": name}, "spec": given})
        bound = {"policyName": name, "validationActions": list(actions), **binding}
        await self(f"POST {_GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound})
        await self.settle()

    async def mutating(self, name: str, *mutations: Any, **spec: Any) -> None:
        """Create a mutating policy about config maps with a binding, and wait until it is in force."""
        binding = spec.pop("binding", {})
        rules = {"matchConstraints": {"resourceRules": [CONFIG_MAPS]}, "reinvocationPolicy": "Never"}
        given = {**rules, "mutations": list(map(_mutation, mutations)), **spec}
        await self(f"POST {_GROUP}/mutatingadmissionpolicies", {"metadata": {"name": name}, "spec": given})
        bound = {"policyName": name, **binding}
        await self(f"POST {_GROUP}/mutatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound})
        await self.settle()


def _validation(given: Any) -> Any:
    return {"expression": given} if isinstance(given, str) else given


def _mutation(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("Object"):
        return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with whole_server() as pipeline:
        yield Api(pipeline)
