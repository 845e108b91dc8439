"""ServiceCIDRs: the ranges that cluster addresses come from.

Source: `pkg/registry/networking/servicecidr`, `pkg/apis/networking/validation`.
"""

from __future__ import annotations

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors, complain
from setpoint.registry.spec_status import STATUS_METADATA, StatusStrategy
from setpoint.registry.strategy import Context, Object, Strategy

_PATH = "spec.cidrs"


class ServiceCIDRStrategy(Strategy):
    """Ranges stay, but one of the other family may be added. Kubernetes forgets to keep the status from writers here."""

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        ranges = _ranges(obj)
        if not ranges:
            return [required(_PATH, "at least one CIDR required")]
        if len(ranges) > 2:
            return [invalid(_PATH, {"CIDRs": ranges}, "may only hold up to 2 values")]
        errors: Errors = []
        for i, value in enumerate(ranges):
            errors += complain(f"{_PATH}[{i}]", value, formats.canonical_cidr(value))
        families = [network.version for value in ranges if (network := formats.parse_cidr(value)) is not None]
        if len(families) == 2 and families[0] == families[1]:
            why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
            errors.append(invalid(_PATH, ranges, why))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = _ranges(obj), _ranges(old)
        grown = len(before) == 1 and len(new) == 2
        if len(new) != len(before) and not grown:
            return [invalid(_PATH, (obj.get("spec") or {}).get("cidrs"), formats.IMMUTABLE)]
        errors = [invalid(f"{_PATH}[{i}]", new[i], formats.IMMUTABLE) for i, value in enumerate(before) if new[i] != value]
        return errors + self.validate(context, obj) if grown else errors


def _ranges(obj: Object) -> list[str]:
    return list((obj.get("spec") or {}).get("cidrs") or ())


def service_cidr_status() -> StatusStrategy:
    """The `status` endpoint."""
    strategy = StatusStrategy(ServiceCIDRStrategy(), keep_metadata=STATUS_METADATA)
    strategy.reset_fields = ()
    return strategy
