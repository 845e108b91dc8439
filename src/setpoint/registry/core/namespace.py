"""Namespaces.

Source: `pkg/registry/core/namespace`, `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry.fields import Errors, complain
from setpoint.registry.spec_status import SpecStatusStrategy, keep_field
from setpoint.registry.strategy import Context, Object, Strategy

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"


class NamespaceStrategy(SpecStatusStrategy):
    """The main endpoint. Finalizers of the spec are written through `finalize` only."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"status.phase"})

    def default(self, obj: Object) -> None:
        _label(obj)
        obj.setdefault("spec", {})
        status = obj.setdefault("status", {})
        status["phase"] = status.get("phase") or "Active"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        _label(obj)
        obj["status"] = {"phase": "Active"}
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        if FINALIZER not in finalizers:
            spec["finalizers"] = [*finalizers, FINALIZER]

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "spec")
        keep_field(obj, old, "status")

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _finalizer_errors(obj, indexed=False)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.dns_label(name, prefix=prefix)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"status.phase": (obj.get("status") or {}).get("phase", "")}


def _label(obj: Object) -> None:
    """Every namespace can be selected by its name (KEP-2161)."""
    metadata = obj["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}


def _finalizer_errors(obj: Mapping[str, Any], *, indexed: bool) -> Errors:
    errors: Errors = []
    for i, finalizer in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        path = f"spec.finalizers[{i}]" if indexed else "spec.finalizers"
        errors += complain(path, finalizer, names.standard_finalizer_name(finalizer))
    return errors


class _NamespacePart(Strategy):
    def default(self, obj: Object) -> None:
        NamespaceStrategy().default(obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return NamespaceStrategy().fields(obj)


class NamespaceStatusStrategy(_NamespacePart):
    """`status`: the phase follows the deletion."""

    reset_fields = (("spec",),)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "spec")

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        phase = (obj.get("status") or {}).get("phase", "")
        deleted = bool(old["metadata"].get("deletionTimestamp"))
        wanted, state = ("Terminating", "not empty") if deleted else ("Active", "empty")
        if phase == wanted:
            return []
        return [invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` is {state}")]


class NamespaceFinalizeStrategy(_NamespacePart):
    """`finalize`: the spec's finalizers."""

    reset_fields = (("status",),)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "status")

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _finalizer_errors(obj, indexed=True)
