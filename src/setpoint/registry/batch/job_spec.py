"""Validation of a Job's spec, alone or as a CronJob's template.

Source: `pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import invalid, not_supported, required, too_long
from setpoint.registry import go_form
from setpoint.registry.batch.policies import validate_failure_policy, validate_success_policy
from setpoint.registry.fields import Errors, domain_prefixed_path, label_selector, nonnegative, nonnegatives
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.template import validate_template
from setpoint.registry.workload import mismatch

Spec = Mapping[str, Any]

_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_MAX_PARALLELISM = _MAX_FAILED = 100000
_MANY, _MANY_PARALLELISM, _MANY_FAILED = 100000, 10000, 10000
_MAX_MANAGED_BY = 63


def validate_job_spec(path: str, spec: Spec, options: Options) -> Errors:
    """With the selector, as a Job itself has it."""
    errors = validate_job_body(path, spec, options)
    selector = spec.get("selector")
    errors += [required(f"{path}.selector")] if selector is None else label_selector(f"{path}.selector", selector)
    return errors + mismatch(path, spec)


def validate_job_template(path: str, spec: Spec, options: Options) -> Errors:
    """As a CronJob's template: the selector is made later."""
    errors = validate_job_body(path, spec, options)
    selector = spec.get("selector")
    if selector is not None:
        shown = go_form.label_selector(selector)
        errors.append(invalid(f"{path}.selector", shown, "`selector` will be auto-generated"))
    if spec.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", True, ("nil", "false")))
    return errors


def validate_job_body(path: str, spec: Spec, options: Options) -> Errors:
    fields = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    errors = nonnegatives(path, spec, *fields, "backoffLimitPerIndex")
    failed = spec.get("maxFailedIndexes")
    if failed is not None:
        errors += nonnegative(f"{path}.maxFailedIndexes", failed)
        if spec.get("backoffLimitPerIndex") is None:
            errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors += _managed_by(f"{path}.managedBy", spec.get("managedBy"))
    errors += _mode(path, spec)
    if spec.get("podFailurePolicy") is not None:
        errors += validate_failure_policy(f"{path}.podFailurePolicy", spec)
    if spec.get("successPolicy") is not None:
        errors += validate_success_policy(f"{path}.successPolicy", spec)
    errors += _replacement(f"{path}.podReplacementPolicy", spec)
    errors += validate_template(f"{path}.template", spec.get("template") or {}, options)
    return errors + _restart_policy(f"{path}.template.spec.restartPolicy", spec)


def _managed_by(path: str, value: str | None) -> Errors:
    if value is None:
        return []
    errors = domain_prefixed_path(path, value)
    return [*errors, too_long(path, _MAX_MANAGED_BY)] if len(value) > _MAX_MANAGED_BY else errors


def _mode(path: str, spec: Spec) -> Errors:
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        return [not_supported(f"{path}.completionMode", mode, _MODES)]
    if mode == "Indexed":
        return _indexed(path, spec)
    errors: Errors = []
    for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if spec.get(field) is not None:
            errors.append(invalid(f"{path}.{field}", spec[field], "requires indexed completion mode"))
    return errors


def _indexed(path: str, spec: Spec) -> Errors:
    completions, parallelism, failed = (spec.get(name) for name in ("completions", "parallelism", "maxFailedIndexes"))
    errors: Errors = []
    if completions is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > _MAX_PARALLELISM:
        why = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
        errors.append(invalid(f"{path}.parallelism", parallelism, why))
    if completions is not None and failed is not None and failed > completions:
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions"))
    if failed is not None and failed > _MAX_FAILED:
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MAX_FAILED}"))
    if (completions or 0) > _MANY and spec.get("backoffLimitPerIndex") is not None:
        errors += _many(path, parallelism, failed)
    return errors


def _many(path: str, parallelism: int | None, failed: int | None) -> Errors:
    """With very many indexes, limits per index are kept for few of them only."""
    errors: Errors = []
    where = f"when completions are above {_MANY} and used with backoff limit per index"
    if failed is None:
        why = f"must be specified when completions is above {_MANY}"
        errors.append(required(f"{path}.maxFailedIndexes", why))
    if parallelism is not None and parallelism > _MANY_PARALLELISM:
        errors.append(invalid(f"{path}.parallelism", parallelism, f"must be less than or equal to {_MANY_PARALLELISM} {where}"))
    if failed is not None and failed > _MANY_FAILED:
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MANY_FAILED} {where}"))
    return errors


def _replacement(path: str, spec: Spec) -> Errors:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else _REPLACEMENTS
    return [] if policy in allowed else [not_supported(path, policy, allowed)]


def _restart_policy(path: str, spec: Spec) -> Errors:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy", "")
    if policy in {"", "Always"}:
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in {"OnFailure", "Never"}:
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if policy != "Never" and spec.get("podFailurePolicy") is not None:
        return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []
