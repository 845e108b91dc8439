"""Conditions that a device must have, or must not have, before a pod is bound.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, invalid
from setpoint.registry.dynamic_resources.collections import each
from setpoint.registry.fields import Errors, complain

_MAX = 4
_WANTED, _FAILED = "bindingConditions", "bindingFailureConditions"


def validate_binding_conditions(path: str, holder: Mapping[str, Any]) -> Errors:
    """Both lists or neither; no condition twice."""
    wanted, failed = holder.get(_WANTED) or [], holder.get(_FAILED) or []
    errors: Errors = []
    for field, conditions in ((_WANTED, wanted), (_FAILED, failed)):
        errors += each(f"{path}.{field}", conditions, lambda here, one: complain(here, one, names.label_key(one)), _MAX)
    errors += [duplicate(f"{path}.{_WANTED}[{i}]", one) for i, one in enumerate(wanted) if one in wanted[:i]]
    for i, one in enumerate(failed):
        here = f"{path}.{_FAILED}[{i}]"
        errors += [duplicate(here, one)] if one in failed[:i] else []
        errors += [invalid(here, one, f"{_FAILED} must not overlap with {_WANTED}")] if one in wanted else []
    if failed and not wanted:
        errors.append(invalid(f"{path}.{_WANTED}", holder.get(_WANTED), f"{_WANTED} are required to use {_FAILED}"))
    if wanted and not failed:
        errors.append(invalid(f"{path}.{_FAILED}", holder.get(_FAILED), f"{_FAILED} are required to use {_WANTED}"))
    return errors
