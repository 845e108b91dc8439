"""Claims and ingresses that choose no class get the cluster's default one.

Source: `plugin/pkg/admission/storage/storageclass/setdefault`, `plugin/pkg/admission/network/defaultingressclass`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

_STORAGE_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_INGRESS_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)
_OLD_STORAGE_CHOICE = "volume.beta.kubernetes.io/storage-class"
_OLD_INGRESS_CHOICE = "kubernetes.io/ingress.class"


class _DefaultClass(BaseStep):
    """`chosen_by` are the annotations that chose a class before there was a field."""

    def __init__(self, reader: Reader, kind: str, classes: str, field: str, marks: Sequence[str], chosen_by: str) -> None:
        self._reader = reader
        self._kind, self._classes, self._field = kind, classes, field
        self._marks, self._chosen_by = marks, chosen_by

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource == self._kind and operation == "CREATE" and not subresource

    async def admit(self, request: AdmissionRequest) -> None:
        obj = request.obj
        if obj is None or _annotations(obj).get(self._chosen_by) is not None:
            return
        spec = obj.setdefault("spec", {})
        if spec.get(self._field) is None:
            name = default_name(await self._reader.list(self._classes), self._marks)
            if name:
                spec[self._field] = name


def default_storage_class(reader: Reader) -> BaseStep:
    """A claim with an empty class wants none: only one without the field is changed."""
    classes = "storageclasses.storage.k8s.io"
    return _DefaultClass(reader, "persistentvolumeclaims", classes, "storageClassName", _STORAGE_DEFAULT, _OLD_STORAGE_CHOICE)


def default_ingress_class(reader: Reader) -> BaseStep:
    ingresses, classes = "ingresses.networking.k8s.io", "ingressclasses.networking.k8s.io"
    return _DefaultClass(reader, ingresses, classes, "ingressClassName", _INGRESS_DEFAULT, _OLD_INGRESS_CHOICE)


def default_name(classes: Sequence[Mapping[str, Any]], marks: Sequence[str]) -> str:
    """The newest of the classes that are marked, the first by name where they are of one age."""
    marked = [one for one in classes if any(_annotations(one).get(mark) == "true" for mark in marks)]
    by_name = sorted(marked, key=lambda one: str(one["metadata"]["name"]))
    newest = max(by_name, key=lambda one: str(one["metadata"].get("creationTimestamp", "")), default=None)
    return str(newest["metadata"]["name"]) if newest else ""


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("annotations") or {}
