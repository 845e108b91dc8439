"""May they? Authorisers are asked in order: the system's own masters, nodes, roles, and what the operator configured.

Each allows, denies, or has no opinion; what nobody allows is refused. `union.Union` asks them in turn: for every request of the
pipeline, and for what reviews, impersonation and policies need to know. Source: apiserver `authorization`.
"""

from setpoint.apiserver.authorization.attributes import denied
from setpoint.apiserver.authorization.decision import ALLOWED, NO_OPINION, Decision
from setpoint.apiserver.authorization.union import AlwaysAllow, Masters, Union

__all__ = ["ALLOWED", "NO_OPINION", "AlwaysAllow", "Decision", "Masters", "Union", "denied"]
