"""May they? Until roles are served, every authenticated user may do all, and the anonymous one sees health and version only.

The answer's wording is Kubernetes' (`authorization/authorizer` and `endpoints/handlers/responsewriters`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from setpoint.api.machinery.status import StatusError, forbidden_object, qualified
from setpoint.api.machinery.user import UserInfo

PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is asked for. `path` is set for non-resource requests only."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Authorizer(Protocol):
    """Decides."""

    def authorize(self, user: UserInfo, attributes: Attributes) -> bool:
        """Whether the user may do this."""


class AnyAuthenticated:
    """Everyone who proved an identity may do everything."""

    def authorize(self, user: UserInfo, attributes: Attributes) -> bool:
        if attributes.path and any(
            attributes.path == public or attributes.path.startswith(f"{public}/") for public in PUBLIC_PATHS
        ):
            return True
        return "system:authenticated" in user.groups


def denied(user: UserInfo, attributes: Attributes) -> StatusError:
    """The 403 for a refused request."""
    if attributes.path:
        why = f'User "{user.name}" cannot {attributes.verb} path "{attributes.path}"'
        return StatusError(403, "Forbidden", f"forbidden: {why}", {})
    resource = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    scope = f'in the namespace "{attributes.namespace}"' if attributes.namespace else "at the cluster scope"
    why = f'User "{user.name}" cannot {attributes.verb} resource "{resource}" in API group "{attributes.group}" {scope}'
    error = forbidden_object(attributes.group, attributes.resource, attributes.name, why)
    if not attributes.name:
        error.message = f"{qualified(attributes.resource, attributes.group)} is forbidden: {why}"
    return error
