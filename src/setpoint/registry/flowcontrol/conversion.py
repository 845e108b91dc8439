"""PriorityLevelConfigurations between v1, which is stored, and the older versions, which call the shares otherwise.

Source: `pkg/apis/flowcontrol/v1beta1/conversion.go`, `v1beta2/conversion.go`; v1beta3 is v1 under another name.
"""

from __future__ import annotations

from setpoint.registry.strategy import Object

_OLD_NAMES = ("flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2")
_OLD, _NEW = "assuredConcurrencyShares", "nominalConcurrencyShares"


def convert_priority_level(obj: Object, version: str) -> Object:
    """The level in the form of `version`; shares with `obj` what is the same."""
    limited = (obj.get("spec") or {}).get("limited")
    source, wanted = (_NEW, _OLD) if version in _OLD_NAMES else (_OLD, _NEW)
    if not limited or source not in limited:
        return obj
    changed = {(wanted if name == source else name): value for name, value in limited.items()}
    return {**obj, "spec": {**obj["spec"], "limited": changed}}
