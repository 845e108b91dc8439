"""APIServices: which server serves a group's version.

Source: kube-aggregator `apis/apiregistration/validation`, `registry/apiservice`, `apis/apiregistration/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.kit.clock import rfc3339
from setpoint.registry.core.config_map import decoded_size
from setpoint.registry.fields import Errors, complain, dns_subdomain
from setpoint.registry.spec_status import STATUS_METADATA, SpecStatusStrategy, StatusStrategy, fill
from setpoint.registry.strategy import Context, Object

_HIGHEST_GROUP = 20_000
_HIGHEST_VERSION = 1000


class APIServiceStrategy(SpecStatusStrategy):
    """The main endpoint. What this server serves itself is available from the start."""

    allow_unconditional_update = False
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset()

    def default(self, obj: Object) -> None:
        service = (obj.get("spec") or {}).get("service")
        if service is not None:
            fill(service, "port", 443)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {}
        if (obj.get("spec") or {}).get("service") is None:
            obj["status"]["conditions"] = [
                {
                    "type": "Available",
                    "status": "True",
                    "lastTransitionTime": rfc3339(context.now),
                    "reason": "Local",
                    "message": "Local APIServices are always available",
                }
            ]

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.path_segment(name)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        name, spec = obj["metadata"].get("name", ""), obj.get("spec") or {}
        wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"
        errors: Errors = []
        if name and not names.path_segment(name) and name != wanted:
            errors.append(invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{wanted}"'))
        return errors + _validate_spec(spec)


def _validate_spec(spec: Mapping[str, Any]) -> Errors:
    group, version = spec.get("group", ""), spec.get("version", "")
    errors: Errors = []
    if not group and version != "v1":
        errors.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
    errors += dns_subdomain("spec.group", group) if group else []
    errors += complain("spec.version", version, names.dns1035_label(version))
    for field, limit in (("groupPriorityMinimum", _HIGHEST_GROUP), ("versionPriority", _HIGHEST_VERSION)):
        value = spec.get(field, 0)
        if not 0 < value <= limit:
            errors.append(invalid(f"spec.{field}", value, f"must be positive and less than {limit}"))
    return errors + _service(spec, spec.get("service"))


def _service(spec: Mapping[str, Any], service: Mapping[str, Any] | None) -> Errors:
    bundle, insecure = decoded_size(spec.get("caBundle") or ""), bool(spec.get("insecureSkipTLSVerify"))
    errors: Errors = []
    if service is None:
        if bundle:
            errors.append(invalid("spec.caBundle", f"{bundle} bytes", "local APIServices may not have a caBundle"))
        if insecure:
            why = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(invalid("spec.insecureSkipTLSVerify", insecure, why))
        return errors
    errors += [required(f"spec.service.{field}") for field in ("namespace", "name") if not service.get(field)]
    port = service.get("port", 0)
    if messages := names.port_number(port):
        errors.append(invalid("spec.service.port", port, f"port is not valid: {', '.join(messages)}"))
    if insecure and bundle:
        errors.append(invalid("spec.insecureSkipTLSVerify", insecure, "may not be true if caBundle is present"))
    return errors


def _validate_status(obj: Object, _old: Object) -> Errors:
    words = ("True", "False", "Unknown")
    return [
        not_supported(f"status.conditions[{i}].status", condition.get("status", ""), words)
        for i, condition in enumerate((obj.get("status") or {}).get("conditions") or ())
        if condition.get("status", "") not in words
    ]


def api_service_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(APIServiceStrategy(), keep_metadata=STATUS_METADATA, validate_status=_validate_status)
