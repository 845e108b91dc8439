"""RoleBindings and ClusterRoleBindings.

Source: `pkg/apis/rbac/validation`, `pkg/apis/rbac/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry.fields import Errors, dns_subdomain, required_segment
from setpoint.registry.rbac.role import RBACStrategy
from setpoint.registry.strategy import Context, Object

GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")


class RoleBindingStrategy(RBACStrategy):
    """Which role a binding gives is for life; who gets it may change."""

    roles: ClassVar[tuple[str, ...]] = ("Role", "ClusterRole")
    namespaced: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        role = obj.setdefault("roleRef", {})
        role["apiGroup"] = role.get("apiGroup") or GROUP
        for subject in obj.get("subjects") or ():
            if subject.get("kind") in {"User", "Group"}:
                subject["apiGroup"] = subject.get("apiGroup") or GROUP

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        role = obj.get("roleRef") or {}
        errors: Errors = []
        if role.get("apiGroup", "") != GROUP:
            errors.append(not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,)))
        if role.get("kind", "") not in self.roles:
            errors.append(not_supported("roleRef.kind", role.get("kind", ""), self.roles))
        errors += required_segment("roleRef.name", role.get("name", ""))
        for i, subject in enumerate(obj.get("subjects") or ()):
            errors += _subject(f"subjects[{i}]", subject, namespaced=self.namespaced)
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, obj, old)
        new, before = (_shown(one.get("roleRef") or {}) for one in (obj, old))
        return errors if new == before else [*errors, invalid("roleRef", new, "cannot change roleRef")]


class ClusterRoleBindingStrategy(RoleBindingStrategy):
    """The same for the whole cluster: only cluster roles, and service accounts with their namespace."""

    roles: ClassVar[tuple[str, ...]] = ("ClusterRole",)
    namespaced: ClassVar[bool] = False


def _shown(role: Mapping[str, Any]) -> dict[str, str]:
    return {"APIGroup": role.get("apiGroup", ""), "Kind": role.get("kind", ""), "Name": role.get("name", "")}


def _subject(path: str, subject: Mapping[str, Any], *, namespaced: bool) -> Errors:
    kind, name, group = (subject.get(field, "") for field in ("kind", "name", "apiGroup"))
    errors: Errors = [] if name else [required(f"{path}.name")]
    if kind not in _SUBJECTS:
        return [*errors, not_supported(f"{path}.kind", kind, _SUBJECTS)]
    wanted = "" if kind == "ServiceAccount" else GROUP
    if kind == "ServiceAccount" and name:
        errors += dns_subdomain(f"{path}.name", name)
    if group != wanted:
        errors.append(not_supported(f"{path}.apiGroup", group, (wanted,)))
    if kind == "ServiceAccount" and not namespaced and not subject.get("namespace"):
        errors.append(required(f"{path}.namespace"))
    return errors
