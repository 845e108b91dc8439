"""How a volume may be opened. Source: `pkg/apis/core/validation/validation.go` (ValidatePersistentVolumeSpec)."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.api.machinery.status import forbidden, not_supported, required
from setpoint.registry.fields import Errors

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def validate_access_modes(path: str, modes: Sequence[str]) -> Errors:
    errors: Errors = [] if modes else [required(path)]
    errors += [not_supported(path, mode, _MODES) for mode in modes if mode not in _MODES]
    if "ReadWriteOncePod" in modes and any(mode in _MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors
