"""Nothing is created in a namespace that is missing or going; some namespaces cannot be deleted.

Source: apiserver `admission/plugin/namespace/lifecycle`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import not_found
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

IMMORTAL = frozenset({"default", "kube-system", "kube-public"})


class NamespaceLifecycle(BaseStep):
    """Checks the namespace of every write."""

    changes: ClassVar[bool] = False

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if operation in {"DELETE", "CONNECT"}:
            return operation == "DELETE" and group_resource == "namespaces"
        return group_resource not in {"namespaces", "localsubjectaccessreviews.authorization.k8s.io"}

    async def admit(self, request: AdmissionRequest) -> None:
        if request.operation == "DELETE" and request.name in IMMORTAL:
            raise refuse(request, "this namespace may not be deleted")
        if request.operation == "DELETE" or not request.namespace:
            return
        namespace = await self._reader.get("namespaces", "", request.namespace)
        if namespace is None:
            raise not_found("", "namespaces", request.namespace)
        if request.operation == "CREATE" and (namespace.get("status") or {}).get("phase") == "Terminating":
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {request.namespace} is being terminated",
                "field": "metadata.namespace",
            }
            why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            raise refuse(request, why, [cause])
