"""How many access decisions a second, in this process: 2,000 bindings beside the default ones, no decision twice in a row.

    python benchmarks/authorization.py [--bindings 2000] [--decisions 200000]

Every user has a role of its own in a namespace of its own; `one user` is bound by as many bindings itself, each to a role of its
own, which is as bad as it gets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.node.authorizer import NodeAuthorizer
from setpoint.apiserver.authorization.rbac.authorizer import RBAC
from setpoint.apiserver.authorization.rbac.index import binding_of
from setpoint.apiserver.authorization.union import Masters, Union
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import RealClock
from setpoint.registry.rbac.default_roles import Seeds
from setpoint.storage.backends.memory import memory_store

GROUPS = ("system:authenticated",)
Question = tuple[UserInfo, RequestInfo]


def door(bindings: int) -> Union:
    """Masters, nodes and roles, with the default roles and as many bindings again."""
    store, clock, seeds = memory_store(RealClock()), RealClock(), Seeds()
    rbac = RBAC(store, clock, seeds)
    for number in range(bindings):
        rules = [
            {"verbs": ["get", "list", "watch"], "apiGroups": ["", "apps"], "resources": ["pods", f"kind-{number}", "*/scale"]}
        ]
        rbac.index.set_role((f"ns-{number}", "r"), rules)
        rbac.index.set_role(("", f"own-{number}"), rules)
        for namespace, kind, role, subject in (
            (f"ns-{number}", "Role", "r", f"user-{number}"),
            ("", "ClusterRole", f"own-{number}", "everything"),
        ):
            binding = {
                "metadata": {"namespace": namespace, "name": f"b-{number}"},
                "roleRef": {"kind": kind, "name": role},
                "subjects": [{"kind": "User", "name": subject}],
            }
            rbac.index.set_binding((namespace, f"b-{number}"), binding_of(binding))
    return Union((Masters(), NodeAuthorizer(store, clock, seeds), rbac))


def asked(verb: str, resource: str, namespace: str, name: str, group: str = "") -> RequestInfo:
    return RequestInfo(True, "", verb, group, "v1", namespace, resource, name)


def questions(bindings: int) -> dict[str, list[Question]]:
    """By kind, as many of each as there are bindings."""
    users = [UserInfo(f"user-{number}", groups=GROUPS) for number in range(bindings)]
    worst, stranger = UserInfo("everything", groups=GROUPS), UserInfo("stranger", groups=GROUPS)
    controller = UserInfo("system:kube-controller-manager", groups=GROUPS)
    return {
        "allowed": [(user, asked("get", "pods", f"ns-{i}", f"p-{i}")) for i, user in enumerate(users)],
        "refused": [(user, asked("delete", "pods", f"ns-{i}", f"p-{i}")) for i, user in enumerate(users)],
        "stranger": [(stranger, asked("get", "secrets", f"ns-{i}", "s")) for i in range(bindings)],
        "controller": [(controller, asked("watch", f"kind-{i}", "", "")) for i in range(bindings)],
        "one user": [(worst, asked("get", f"kind-{i}", f"ns-{i}", "x", "apps")) for i in range(bindings)],
        "one user, refused": [(worst, asked("delete", f"kind-{i}", f"ns-{i}", "x", "apps")) for i in range(bindings)],
        "masters": [(UserInfo("root", groups=("system:masters",)), asked("get", "pods", f"ns-{i}", "")) for i in range(bindings)],
    }


async def rate(union: Union, asked_for: Sequence[Question], decisions: int) -> float:
    """Decisions a second, after one round."""
    for user, info in asked_for:
        await union.decide(user, info)
    rounds = max(1, decisions // len(asked_for))
    started = time.perf_counter()
    for _ in range(rounds):
        for user, info in asked_for:
            await union.decide(user, info)
    return rounds * len(asked_for) / (time.perf_counter() - started)


async def measure(bindings: int, decisions: int) -> dict[str, Any]:
    union = door(bindings)
    return {kind: round(await rate(union, each, decisions)) for kind, each in questions(bindings).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bindings", type=int, default=2000)
    parser.add_argument("--decisions", type=int, default=200_000)
    chosen = parser.parse_args()
    print(json.dumps(asyncio.run(measure(chosen.bindings, chosen.decisions)), indent=2))


if __name__ == "__main__":
    main()
