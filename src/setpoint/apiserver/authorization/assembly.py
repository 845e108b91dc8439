"""The authorisers of a server, put together; masters are let in first, whatever is configured."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.apiserver.authorization.decision import Authorizer
from setpoint.apiserver.authorization.escalation import EscalationCheck
from setpoint.apiserver.authorization.node.authorizer import NodeAuthorizer
from setpoint.apiserver.authorization.rbac.authorizer import RBAC
from setpoint.apiserver.authorization.union import AlwaysAllow, AlwaysDeny, Masters, Union
from setpoint.kit.clock import Clock
from setpoint.registry.rbac.default_roles import Seeds
from setpoint.storage.protocol import Store

#: the type of an authoriser, or one that is none of the server's own (a webhook)
Chosen = str | Authorizer
#: Kubernetes' own order (`--authorization-mode=Node,RBAC`)
DEFAULT = ("Node", "RBAC")


class Authorization:
    """`authorizer` is what the pipeline asks, `escalation` the last mutating step of admission.

    `chosen` are asked in their order.
    """

    def __init__(self, store: Store, clock: Clock, chosen: Sequence[Chosen] = DEFAULT) -> None:
        seeds = Seeds()
        self.rbac = RBAC(store, clock, seeds)
        self.node = NodeAuthorizer(store, clock, seeds)
        known: dict[str, Authorizer] = {
            "Node": self.node,
            "RBAC": self.rbac,
            "AlwaysAllow": AlwaysAllow(),
            "AlwaysDeny": AlwaysDeny(),
        }
        self.authorizer = Union([Masters(), *(known[each] if isinstance(each, str) else each for each in chosen)])
        self.escalation = EscalationCheck(self.authorizer, self.rbac)

    @property
    def followers(self) -> tuple[NodeAuthorizer, RBAC]:
        """What follows the store for them."""
        return self.node, self.rbac
