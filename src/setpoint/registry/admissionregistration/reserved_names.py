"""Names that configurations may not have some day: they are kept for those that come from files at the start of a server.

Source: `pkg/apis/admissionregistration/validation/static_suffix.go`.
"""

from __future__ import annotations

from setpoint.registry.strategy import Context, Object, Strategy

_SUFFIX = ".static.k8s.io"
_WARNING = (
    f'metadata.name: names ending with "{_SUFFIX}" will be reserved for static manifest-based configurations when the'
    " ManifestBasedAdmissionControlConfig feature gate is enabled"
)


class AdmissionStrategy(Strategy):
    """What all kinds of the group have in common."""

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return [_WARNING] if obj["metadata"].get("name", "").endswith(_SUFFIX) else []

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)
