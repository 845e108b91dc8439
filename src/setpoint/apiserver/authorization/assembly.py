"""The authorisers of a server, put together: masters, nodes, roles, in Kubernetes' order (`--authorization-mode=Node,RBAC`)."""

from __future__ import annotations

from setpoint.apiserver.authorization.escalation import EscalationCheck
from setpoint.apiserver.authorization.node.authorizer import NodeAuthorizer
from setpoint.apiserver.authorization.rbac.authorizer import RBAC
from setpoint.apiserver.authorization.union import Masters, Union
from setpoint.kit.clock import Clock
from setpoint.registry.rbac.default_roles import Seeds
from setpoint.storage.protocol import Store


class Authorization:
    """`door` is what the pipeline asks, `escalation` the last mutating step of admission."""

    def __init__(self, store: Store, clock: Clock) -> None:
        seeds = Seeds()
        self.rbac = RBAC(store, clock, seeds)
        self.node = NodeAuthorizer(store, clock, seeds)
        self.door = Union((Masters(), self.node, self.rbac))
        self.escalation = EscalationCheck(self.door, self.rbac)

    @property
    def followers(self) -> tuple[NodeAuthorizer, RBAC]:
        """What follows the store for them."""
        return self.node, self.rbac
