"""ServiceAccounts.

Source: `pkg/registry/core/serviceaccount/strategy.go`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.registry.strategy import Context, Object, Strategy


class ServiceAccountStrategy(Strategy):
    """References to secrets keep their names only."""

    validates_whole_on_update: ClassVar[bool] = True
    delete_returns_object: ClassVar[bool] = True

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        _clean(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        _clean(obj)


def _clean(obj: Object) -> None:
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]
