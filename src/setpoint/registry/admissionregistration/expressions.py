"""The expressions of webhooks and policies, checked for their types before they are stored.

Source: Kubernetes' `pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

from setpoint.api.machinery.cel import admission
from setpoint.api.machinery.status import invalid
from setpoint.registry.fields import Errors


class Environment(admission.Environment):
    """What expressions may mention, and what is wrong with them as fields of an object."""

    def complaints(self, path: str, text: str, *results: str, authorizer: bool = True, given: str = "") -> Errors:
        """What is wrong with an expression that must evaluate to one of the types named; `given` is shown in its stead."""
        from setpoint.api.machinery.cel.source import CompileError

        shown = given or text
        try:
            found = self.type_of(text, authorizer=authorizer)
        except CompileError as error:
            return [invalid(path, shown, f"compilation failed: {error}")]
        kind = "null_type" if found.name == "null" else str(found)
        if kind in results:
            return []
        wanted = results[0] if len(results) == 1 else f"one of [{' '.join(results)}]"
        return [invalid(path, shown, f"must evaluate to {wanted} but got {kind}")]

    def define(self, path: str, name: str, text: str) -> Errors:
        """Check a variable and let the expressions after it use it, whatever is wrong with it."""
        from setpoint.api.machinery.cel.source import CompileError

        try:
            self.add(name, text)
        except CompileError as error:
            return [invalid(path, text, f"compilation failed: {error}")]
        return []
