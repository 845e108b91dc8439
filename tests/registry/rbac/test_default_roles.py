"""The default roles: the file is read as it is meant, and roles that gather others have all of theirs."""

from __future__ import annotations

from typing import Any

from tests.registry.builders import complaints

from setpoint.api.machinery.role_aggregation import aggregated_rules
from setpoint.registry.rbac.default_roles import defaults
from setpoint.registry.rbac.role import ClusterRoleStrategy, RoleStrategy
from setpoint.registry.rbac.role_binding import RoleBindingStrategy


def test_every_default_is_valid() -> None:
    found = defaults()
    assert [len(bodies) for bodies in found] == [69, 50, 7, 7]
    for strategy, bodies in zip(
        (ClusterRoleStrategy(), RoleBindingStrategy(), RoleStrategy(), RoleBindingStrategy()), found, strict=True
    ):
        assert [complaint for body in bodies for complaint in complaints(strategy, body)] == []


def test_bindings_name_roles_that_exist() -> None:
    found = defaults()
    cluster_roles = {role["metadata"]["name"] for role in found.cluster_roles}
    roles = {(role["metadata"]["namespace"], role["metadata"]["name"]) for role in found.roles}
    for binding in (*found.cluster_role_bindings, *found.role_bindings):
        reference = binding["roleRef"]
        if reference["kind"] == "ClusterRole":
            assert reference["name"] in cluster_roles
        else:
            assert (binding["metadata"]["namespace"], reference["name"]) in roles


def test_who_may_administer_may_edit_and_view() -> None:
    rules = {role["metadata"]["name"]: role["rules"] for role in defaults().cluster_roles}
    assert all(rule in rules["admin"] for rule in rules["edit"])
    assert all(rule in rules["edit"] for rule in rules["view"])


def test_a_role_gathers_each_rule_of_others_once() -> None:
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    labels = {"gather": "yes"}
    own = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    role: dict[str, Any] = {
        "metadata": {"name": "b", "labels": labels},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"gather": "yes"}}]},
        "rules": [own],
    }
    others: list[dict[str, Any]] = [{"metadata": {"name": name, "labels": labels}, "rules": [rule]} for name in ("c", "a")]
    assert aggregated_rules(role, [role, *others, {"metadata": {"name": "d"}, "rules": [own]}]) == [rule]
