"""The identity that every request has (`Audit-Id`), whether or not it is recorded.

Source: apiserver `endpoints/filters/audit_init.go`.
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.registry import generated


def identity_of(headers: Mapping[str, str]) -> str:
    """What the client calls its request, or a new identity."""
    return headers.get("audit-id") or generated.uid()
