"""PriorityLevelConfigurations: how many requests of a level are served at once, and how the others wait.

Source: `pkg/registry/flowcontrol/prioritylevelconfiguration`, `pkg/apis/flowcontrol/validation`, `pkg/apis/flowcontrol/v1`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, complain
from setpoint.registry.flowcontrol.flow_schema import validate_conditions
from setpoint.registry.spec_status import STATUS_METADATA, SpecStatusStrategy, StatusStrategy, fill
from setpoint.registry.strategy import Context, Object

_TYPES = ("Exempt", "Limited")
_RESPONSES = ("Queue", "Reject")
_SHARES = 30
_QUEUING = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}
_MAX_QUEUES = 10_000_000
_MAX_HASH_BITS = 60
_NOT_NEGATIVE = "must be a non-negative integer"
#: the one level besides `exempt` that must be as it is
_CATCH_ALL: Object = {
    "type": "Limited",
    "limited": {"nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"}},
}
#: the levels that there are even while their objects are absent
MANDATORY: dict[str, Object] = {
    "exempt": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
    "catch-all": _CATCH_ALL,
}

Spec = Mapping[str, Any]


class PriorityLevelStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        exempt, limited = spec.get("exempt"), spec.get("limited")
        if exempt is not None:
            fill(exempt, "nominalConcurrencyShares", 0)
            fill(exempt, "lendablePercent", 0)
        if limited is None:
            return
        fill(limited, "nominalConcurrencyShares", _SHARES)
        fill(limited, "lendablePercent", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for field, value in _QUEUING.items():
                queuing[field] = queuing.get(field) or value

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        name, spec = obj["metadata"].get("name", ""), obj.get("spec") or {}
        return _validate_spec(name, spec) + _fixed(name, spec) + validate_conditions(obj, obj)


def _fixed(name: str, spec: Spec) -> Errors:
    shown = go_form.of(spec, "PriorityLevelConfigurationSpec")
    if name == "exempt" and {key: value for key, value in spec.items() if key != "exempt"} != {"type": "Exempt"}:
        why = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
        return [invalid("spec", shown, why)]
    if name == "catch-all" and shown != go_form.of(_CATCH_ALL, "PriorityLevelConfigurationSpec"):
        return [invalid("spec", shown, "spec of 'catch-all' must equal the fixed value")]
    return []


def _validate_spec(name: str, spec: Spec) -> Errors:
    kind, limited, exempt = spec.get("type", ""), spec.get("limited"), spec.get("exempt")
    errors: Errors = []
    if (name == "exempt") != (kind == "Exempt"):
        errors.append(invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
    if kind == "Exempt":
        if limited is not None:
            errors.append(forbidden("spec.limited", "must be nil if the type is not Limited"))
        return errors + (_shares("spec.exempt", exempt) + _lendable("spec.exempt", exempt) if exempt is not None else [])
    if kind != "Limited":
        return [*errors, not_supported("spec.type", kind, _TYPES)]
    if exempt is not None:
        errors.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
    if limited is None:
        return [*errors, required("spec.limited", "must not be empty when type is Limited")]
    return errors + _limited("spec.limited", limited)


def _shares(path: str, level: Spec) -> Errors:
    shares = level.get("nominalConcurrencyShares") or 0
    return [invalid(f"{path}.nominalConcurrencyShares", shares, _NOT_NEGATIVE)] if shares < 0 else []


def _lendable(path: str, level: Spec) -> Errors:
    percent = level.get("lendablePercent")
    return [] if percent is None else complain(f"{path}.lendablePercent", percent, names.in_range(percent, 0, 100))


def _limited(path: str, limited: Spec) -> Errors:
    errors = _shares(path, limited) + _response(f"{path}.limitResponse", limited.get("limitResponse") or {})
    errors += _lendable(path, limited)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowing, f"if specified, {_NOT_NEGATIVE}"))
    return errors


def _response(path: str, response: Spec) -> Errors:
    kind, queuing = response.get("type", ""), response.get("queuing")
    if kind not in _RESPONSES:
        return [not_supported(f"{path}.type", kind, _RESPONSES)]
    if kind == "Reject":
        why = "must be nil if limited.limitResponse.type is not Limited"
        return [] if queuing is None else [forbidden(f"{path}.queuing", why)]
    if queuing is None:
        return [required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited")]
    return _queuing(f"{path}.queuing", queuing)


def _queuing(path: str, queuing: Spec) -> Errors:
    queues, hand, length = (queuing.get(field, 0) for field in ("queues", "handSize", "queueLengthLimit"))
    errors: Errors = [invalid(f"{path}.queueLengthLimit", length, "must be positive")] if length <= 0 else []
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MAX_QUEUES:
        errors.append(invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}"))
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})"))
    elif math.ceil(math.log2(queues) * hand) > _MAX_HASH_BITS:
        why = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MAX_HASH_BITS}"
        errors.append(invalid(f"{path}.handSize", hand, why))
    return errors


def priority_level_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(PriorityLevelStrategy(), keep_metadata=STATUS_METADATA, validate_status=validate_conditions)
