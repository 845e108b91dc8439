"""Roles and ClusterRoles.

Source: `pkg/apis/rbac/validation`, `pkg/registry/rbac/role`, `pkg/registry/rbac/clusterrole`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, label_selector
from setpoint.registry.strategy import Context, Object, Strategy


class RBACStrategy(Strategy):
    """What the four kinds share: free names, PUT that creates, and, on update, everything checked twice over."""

    allow_create_on_update: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.path_segment(name)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validate(context, obj) + self.validate(context, obj)


class RoleStrategy(RBACStrategy):
    """Rules for a namespace's resources."""

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _rules(obj, namespaced=True)


class ClusterRoleStrategy(RBACStrategy):
    """Rules for all resources, or a gathering of other roles' rules."""

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _rules(obj, namespaced=False) + _aggregation(obj.get("aggregationRule"))


def _rules(obj: Object, *, namespaced: bool) -> Errors:
    return [error for i, rule in enumerate(obj.get("rules") or ()) for error in _rule(f"rules[{i}]", rule, namespaced=namespaced)]


def _rule(path: str, rule: Mapping[str, Any], *, namespaced: bool) -> Errors:
    errors: Errors = [] if rule.get("verbs") else [required(f"{path}.verbs", "verbs must contain at least one value")]
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            errors.append(invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, why))
        return errors
    if not rule.get("apiGroups"):
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    return errors


def _aggregation(rule: Mapping[str, Any] | None) -> Errors:
    if rule is None:
        return []
    path, selectors = "aggregationRule.clusterRoleSelectors", rule.get("clusterRoleSelectors") or ()
    if not selectors:
        return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")]
    errors: Errors = []
    for i, selector in enumerate(selectors):
        found = label_selector(f"{path}[{i}]", selector)
        errors += found
        if found:
            errors.append(invalid(f"{path}[{i}]", _as_selector(selector), "invalid label selector."))
    return errors


def _as_selector(selector: Mapping[str, Any]) -> Any:
    """What cannot be made a selector is shown as nothing."""
    return None if go_form.label_selector(selector) else {}
