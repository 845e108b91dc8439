"""May they? Until roles are served, every authenticated user may do all, and the anonymous one sees health and version only.

The answer's wording is Kubernetes' (`authorization/authorizer` and `endpoints/handlers/responsewriters`).
"""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, forbidden_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo

#: what the role system:public-info-viewer opens to everyone
PUBLIC_PATHS = frozenset({"/healthz", "/livez", "/readyz", "/version", "/version/"})


class AnyAuthenticated:
    """Everyone who proved an identity may do everything."""

    async def authorize(self, request: Request, info: RequestInfo) -> None:
        """Pass, or raise StatusError 403."""
        if "system:authenticated" in request.user.groups or info.path in PUBLIC_PATHS:
            return
        raise denied(request.user, info)


def denied(user: UserInfo, info: RequestInfo) -> StatusError:
    """The 403 for a refused request."""
    if not info.is_resource:
        why = f'User "{user.name}" cannot {info.verb} path "{info.path}"'
        return StatusError(403, "Forbidden", f"forbidden: {why}", {})
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    scope = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    why = f'User "{user.name}" cannot {info.verb} resource "{resource}" in API group "{info.group}" {scope}'
    return forbidden_object(info.group, info.resource, info.name, why)
