"""What controllers read from a refusal of the API server."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError


def is_namespace_terminating(error: Exception | None) -> bool:
    """Whether a create was refused because its namespace goes away: then there is nothing to do, and nothing to tell."""
    if not isinstance(error, StatusError):
        return False
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
