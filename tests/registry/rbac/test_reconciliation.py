from __future__ import annotations

from typing import Any

from setpoint.registry.rbac.default_roles import Seeds, defaults
from setpoint.registry.rbac.reconciliation import AUTOUPDATE, reconciled


def role(name: str) -> dict[str, Any]:
    return next(each for each in defaults().cluster_roles if each["metadata"]["name"] == name)


def held(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "resourceVersion": "1"}, **changes}


def test_what_is_whole_is_left_alone() -> None:
    for bodies in defaults():
        assert [reconciled(held(body), body) for body in bodies if reconciled(held(body), body)] == []


def test_lost_rules_come_back_and_added_ones_stay() -> None:
    own = {"verbs": ["get"], "apiGroups": ["x"], "resources": ["y"]}
    basic = role("system:basic-user")
    changed = reconciled(held(basic, rules=[basic["rules"][0], own]), basic)
    assert changed is not None
    assert changed["rules"][:2] == [basic["rules"][0], own]
    assert {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]} in changed["rules"]


def test_who_says_so_is_left_alone() -> None:
    basic = role("system:basic-user")
    metadata = {**basic["metadata"], "annotations": {AUTOUPDATE: "false"}}
    assert reconciled({**basic, "metadata": metadata, "rules": []}, basic) is None


def test_rules_that_are_gathered_are_the_controllers() -> None:
    admin = role("admin")
    assert reconciled(held(admin, rules=[]), admin) is None


def test_bindings_get_their_subjects_back() -> None:
    binding = next(each for each in defaults().cluster_role_bindings if each.get("subjects"))
    changed = reconciled(held(binding, subjects=[]), binding)
    assert changed is not None
    assert changed["subjects"] == binding["subjects"]


def test_a_binding_of_another_role_is_made_anew() -> None:
    binding = defaults().cluster_role_bindings[0]
    changed = reconciled(held(binding, roleRef={**binding["roleRef"], "name": "other"}), binding)
    assert changed == binding
    assert "resourceVersion" not in changed["metadata"]


def test_labels_come_back_too() -> None:
    basic = role("system:basic-user")
    changed = reconciled({**basic, "metadata": {"name": "system:basic-user", "labels": {"mine": "x"}}}, basic)
    assert changed is not None
    assert changed["metadata"]["labels"] == {"mine": "x", "kubernetes.io/bootstrapping": "rbac-defaults"}


def test_seeds_are_the_same_piece_by_piece() -> None:
    seeds = Seeds()
    known = {("", body["metadata"]["name"]): body["rules"] for body in defaults().cluster_roles}
    assert all(seeds.rules(key) == rules for key, rules in known.items())
