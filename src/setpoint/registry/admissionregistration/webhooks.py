"""ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

Source: `pkg/apis/admissionregistration/validation`, `pkg/apis/admissionregistration/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from setpoint.api.machinery.status import FieldError, duplicate, invalid, not_supported, required
from setpoint.registry.admissionregistration.match_conditions import validate_match_conditions
from setpoint.registry.admissionregistration.reserved_names import AdmissionStrategy
from setpoint.registry.admissionregistration.rules import FAILURE_POLICIES, MATCH_POLICIES, default_rules, validate_rule
from setpoint.registry.admissionregistration.webhook_client import (
    REVIEW_VERSIONS,
    default_client,
    validate_client,
    validate_review_versions,
)
from setpoint.registry.fields import Errors, domain_name, label_selector, one_of
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object

_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_REINVOCATION = ("IfNeeded", "Never")
_TIMEOUT = 10  # seconds
_LONGEST_TIMEOUT = 30  # seconds

Hook = Mapping[str, Any]


class _Options(Struct, frozen=True):
    """Strict for what is new; what an old configuration already has wrong it may keep."""

    no_side_effects: bool = True
    known_version: bool = True
    unique_names: bool = True
    invalid_values: bool = False
    match_conditions: bool = True


class ValidatingWebhooksStrategy(AdmissionStrategy):
    """The generation counts changes of the webhooks."""

    allow_unconditional_update = False
    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    mutating: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        for hook in obj.get("webhooks") or ():
            for field, value in (("failurePolicy", "Fail"), ("matchPolicy", "Equivalent"), ("timeoutSeconds", _TIMEOUT)):
                fill(hook, field, value)
            for field in ("namespaceSelector", "objectSelector"):
                fill(hook, field, {})
            if self.mutating:
                fill(hook, "reinvocationPolicy", "Never")
            default_rules(hook.get("rules"))
            default_client(hook.get("clientConfig"))

    def generation_changed(self, obj: Object, old: Object) -> bool:
        return bool(obj.get("webhooks") != old.get("webhooks"))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate(_hooks(obj), _Options())

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        before = _hooks(old)
        options = _Options(
            no_side_effects=all(hook.get("sideEffects") in _NO_SIDE_EFFECTS for hook in before),
            known_version=all(_has_known_version(hook) for hook in before),
            unique_names=len({hook.get("name", "") for hook in before}) == len(before),
            invalid_values=any(
                label_selector("", hook.get(field)) for hook in before for field in ("namespaceSelector", "objectSelector")
            ),
            match_conditions=[hook.get("matchConditions") for hook in _hooks(obj)]
            != [hook.get("matchConditions") for hook in before],
        )
        return _validate(_hooks(obj), options)


class MutatingWebhooksStrategy(ValidatingWebhooksStrategy):
    """The same, with the choice of being asked again."""

    mutating: ClassVar[bool] = True


def _hooks(obj: Object) -> Sequence[Hook]:
    return obj.get("webhooks") or ()


def _has_known_version(hook: Hook) -> bool:
    versions = hook.get("admissionReviewVersions") or ()
    return not versions or any(version in REVIEW_VERSIONS for version in versions)


def _validate(hooks: Sequence[Hook], options: _Options) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, hook in enumerate(hooks):
        path, name = f"webhooks[{i}]", hook.get("name", "")
        errors += _hook(path, hook, options)
        errors += validate_review_versions(
            f"{path}.admissionReviewVersions",
            hook.get("admissionReviewVersions") or [],
            when_absent=f"must specify one of {', '.join(REVIEW_VERSIONS)}",
            known_version=options.known_version,
        )
        if options.unique_names and name in seen:
            errors.append(duplicate(f"{path}.name", name))
        if name:
            seen.add(name)
    return errors


def _hook(path: str, hook: Hook, options: _Options) -> Errors:
    errors = domain_name(f"{path}.name", hook.get("name", ""), segments=3)
    for i, rule in enumerate(hook.get("rules") or ()):
        errors += validate_rule(f"{path}.rules[{i}]", rule)
    errors += one_of(f"{path}.failurePolicy", hook.get("failurePolicy"), FAILURE_POLICIES)
    errors += one_of(f"{path}.matchPolicy", hook.get("matchPolicy"), MATCH_POLICIES)
    errors += _side_effects(f"{path}.sideEffects", hook.get("sideEffects"), options)
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= _LONGEST_TIMEOUT:
        why = f"the timeout value must be between 1 and {_LONGEST_TIMEOUT} seconds"
        errors.append(invalid(f"{path}.timeoutSeconds", seconds, why))
    for field in ("namespaceSelector", "objectSelector"):
        errors += label_selector(f"{path}.{field}", hook.get(field), allow_invalid_values=options.invalid_values)
    errors += one_of(f"{path}.reinvocationPolicy", hook.get("reinvocationPolicy"), _REINVOCATION)
    errors += validate_client(f"{path}.clientConfig", hook.get("clientConfig") or {})
    if options.match_conditions:
        errors += validate_match_conditions(f"{path}.matchConditions", hook.get("matchConditions") or ())
    return errors


def _side_effects(path: str, value: str | None, options: _Options) -> Errors:
    allowed = _NO_SIDE_EFFECTS if options.no_side_effects else _SIDE_EFFECTS
    if value is None:
        return [required(path, f"must specify one of {', '.join(allowed)}")]
    return [] if value in allowed else [not_supported(path, value, allowed)]
