"""ServiceAccounts.

Source: `pkg/registry/core/serviceaccount/strategy.go`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.registry.strategy import Context, Object, Strategy

_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_MOUNTABLE_WARNING = (
    f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
)


class ServiceAccountStrategy(Strategy):
    """References to secrets keep their names only."""

    validates_whole_on_update: ClassVar[bool] = True
    delete_returns_object: ClassVar[bool] = True

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        _clean(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        _clean(obj)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return [_MOUNTABLE_WARNING] if _has_mountable(obj) else []

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return [_MOUNTABLE_WARNING] if _has_mountable(obj) and not _has_mountable(old) else []


def _has_mountable(obj: Object) -> bool:
    return _MOUNTABLE in (obj["metadata"].get("annotations") or {})


def _clean(obj: Object) -> None:
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]
