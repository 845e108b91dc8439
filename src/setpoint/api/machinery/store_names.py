"""Names that no stored object can have. Source: apiserver `registry/generic/registry/store.go`, the key functions."""

from __future__ import annotations

from setpoint.api.machinery.names import path_segment
from setpoint.api.machinery.schema.reading import go_quoted
from setpoint.api.machinery.status import bad_request


def check_name(name: str) -> None:
    """Whether an object of this name can be looked for; raises StatusError 400."""
    if not name:
        raise bad_request("Name parameter required.")
    if complaints := path_segment(name):
        raise bad_request(f"Name parameter invalid: {go_quoted(name)}: {';'.join(complaints)}")
