"""Conflicts of an apply: fields that others own and that the configuration would change.

Source: apimachinery `managedfields/internal/conflict.go`.
"""

from __future__ import annotations

import json

from setpoint.api.machinery.fields import sets
from setpoint.api.machinery.fields.managed import Identity
from setpoint.api.machinery.fields.sets import Set
from setpoint.api.machinery.status import StatusError


class Conflicts(Exception):
    """The fields in dispute, by their present owner."""

    def __init__(self, fields: dict[Identity, Set]) -> None:
        super().__init__("conflicts")
        self.fields = dict(sorted(fields.items()))

    def less(self, allowed: Set) -> Conflicts:
        """Without those that are allowed."""
        rest = {who: sets.difference(found, allowed) for who, found in self.fields.items()}
        return Conflicts({who: found for who, found in rest.items() if found})

    def answer(self) -> StatusError:
        """The 409 with one cause per field."""
        listed = [(_name(who), path) for who, found in self.fields.items() for path in sets.paths(found)]
        causes = [{"reason": "FieldManagerConflict", "message": f"conflict with {name}", "field": path} for name, path in listed]
        return StatusError(409, "Conflict", self._message(listed), {"causes": causes})

    def _message(self, listed: list[tuple[str, str]]) -> str:
        if len(listed) == 1:
            name, path = listed[0]
            return f"Apply failed with 1 conflict: conflict with {name}: {path}"
        lines: list[str] = []
        for who, found in self.fields.items():
            lines.append(f"conflicts with {_name(who)}:")
            lines += [f"- {path}" for path in sets.paths(found)]
        return f"Apply failed with {len(listed)} conflicts: " + "\n".join(lines)


def _name(who: Identity) -> str:
    """`"kubectl" with subresource "status" using v1`."""
    text = json.dumps(who.manager, ensure_ascii=False)
    if who.subresource:
        text += f' with subresource "{who.subresource}"'
    return f"{text} using {who.api_version}" if who.operation == "Update" else text
