"""CSIDrivers: what a volume driver wants of Kubernetes.

Source: `pkg/registry/storage/csidriver`, `pkg/apis/storage/validation`, `pkg/apis/storage/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, duplicate, invalid, not_supported
from setpoint.registry.fields import Errors, immutable, one_of
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_MODES = ("Persistent", "Ephemeral")
_SHORTEST_TOKEN = 600  # seconds
_LONGEST_TOKEN = 1 << 32  # seconds
_SHORTEST_UPDATE = 10  # seconds
_IN_SECRETS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of"
    " tokens in volume attributes"
)


class CSIDriverStrategy(Strategy):
    """The generation begins with the first change."""

    delete_returns_object: ClassVar[bool] = True
    allow_unconditional_update = False
    has_generation: ClassVar[bool] = True
    generation_from_start: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        fill(spec, "attachRequired", True)
        for field in ("podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"):
            fill(spec, field, False)
        fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType")
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _GROUP_POLICIES)
        errors += _tokens("spec.tokenRequests", spec.get("tokenRequests") or ())
        modes = spec.get("volumeLifecycleModes") or ()
        errors += [not_supported("spec.volumeLifecycleModes", mode, _MODES) for mode in modes if mode not in _MODES]
        period = spec.get("nodeAllocatableUpdatePeriodSeconds")
        if period is not None and period < _SHORTEST_UPDATE:
            why = f"must be greater than or equal to {_SHORTEST_UPDATE} seconds"
            errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
        in_secrets = spec.get("serviceAccountTokenInSecrets")
        if in_secrets is not None and not spec.get("tokenRequests"):
            why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
            errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, why))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        errors = self.validate(context, obj)
        errors += immutable("spec.attachedRequired", new.get("attachRequired"), before.get("attachRequired"))
        modes = "volumeLifecycleModes"
        return errors + immutable(f"spec.{modes}", new.get(modes), before.get(modes))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        spec = obj.get("spec") or {}
        unset = bool(spec.get("tokenRequests")) and spec.get("serviceAccountTokenInSecrets") is None
        return [_IN_SECRETS] if unset else []

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        new, before = ((one.get("spec") or {}).get("tokenRequests") or [] for one in (obj, old))
        return [] if new == before else self.warnings_on_create(context, obj)


def _tokens(path: str, requests: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, request in enumerate(requests):
        audience, seconds = request.get("audience", ""), request.get("expirationSeconds")
        if audience in seen:
            errors.append(duplicate(f"{path}[{i}].audience", audience))
            continue
        seen.add(audience)
        if seconds is None:
            continue
        if seconds < _SHORTEST_TOKEN:
            errors.append(invalid(f"{path}[{i}].expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
        if seconds > _LONGEST_TOKEN:
            why = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(f"{path}[{i}].expirationSeconds", seconds, why))
    return errors
