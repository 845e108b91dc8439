"""What the specs of workloads share: the selector, the template that must match it, counts, and numbers that may be percentages.

Source: `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import integers, names, selectors
from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.machinery.status import bad_request, forbidden, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, complain, label_selector, nonnegative
from setpoint.registry.pod.ratchet import template_options
from setpoint.registry.pod.validation.template import validate_template

Spec = Mapping[str, Any]


def annotated_number(obj: Mapping[str, Any], annotation: str, prefix: str = "") -> int | None:
    """A field of old that is an annotation now; raises StatusError 400 where no number stands there."""
    text = (obj["metadata"].get("annotations") or {}).get(annotation)
    if text is None:
        return None
    try:
        return integers.parse(text)
    except ValueError as error:
        kind, version = obj["kind"], obj["apiVersion"].rpartition("/")[2]
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {prefix}{error}') from error


def template_labels(spec: Spec) -> Mapping[str, str] | None:
    """Labels of the pods to be made; None is shown as `null` in complaints."""
    labels: Mapping[str, str] | None = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    return dict(sorted(labels.items())) if labels else None


def validate_selector(path: str, selector: Spec | None, kind: str) -> Errors:
    """A selector that is there and selects something."""
    if selector is None:
        return [required(path)]
    errors = label_selector(path, selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, {}, f"empty selector is invalid for {kind}"))
    return errors


def compiled(selector: Spec | None) -> LabelSelector | None:
    """The selector, ready to match; None if it makes no sense. A missing one matches nothing."""
    try:
        return selectors.from_object(selector)
    except ValueError:
        return None


def mismatch(path: str, spec: Spec) -> Errors:
    """The template's pods must be selected, else the controller would make pods for ever."""
    selector = compiled(spec.get("selector"))
    if selector is None or selector.everything or selector.matches(template_labels(spec) or {}):
        return []
    why = "`selector` does not match template `labels`"
    return [invalid(f"{path}.template.metadata.labels", template_labels(spec), why)]


def validate_pods(path: str, spec: Spec, old: Spec | None, kind: str) -> Errors:
    """The template of pods that always run: matched by the selector, restarted for ever, without a deadline."""
    errors = mismatch(path, spec)
    errors += validate_template(f"{path}.template", spec.get("template") or {}, options(old))
    pod_spec = (spec.get("template") or {}).get("spec") or {}
    errors += always_restarted(f"{path}.template.spec", pod_spec)
    return errors + without_deadline(f"{path}.template.spec", pod_spec, kind)


def options(old: Spec | None) -> Any:
    return template_options(None if old is None else old.get("template") or {})


def always_restarted(path: str, pod_spec: Spec) -> Errors:
    policy = pod_spec.get("restartPolicy", "")
    return [] if policy == "Always" else [not_supported(f"{path}.restartPolicy", policy, ("Always",))]


def without_deadline(path: str, pod_spec: Spec, kind: str) -> Errors:
    if pod_spec.get("activeDeadlineSeconds") is None:
        return []
    return [forbidden(f"{path}.activeDeadlineSeconds", f"activeDeadlineSeconds in {kind} is not Supported")]


def selector_immutable(obj: Mapping[str, Any], old: Mapping[str, Any]) -> Errors:
    new, before = (obj.get("spec") or {}).get("selector"), (old.get("spec") or {}).get("selector")
    return [] if new == before else [invalid("spec.selector", go_form.label_selector(new), "field is immutable")]


def repeated(errors: Errors) -> Errors:
    """Complaints about a spec that an update checks twice: as a new one, and as a change. Causes are listed as often."""
    return errors * 2


def number_or_percent(path: str, value: int | str | None) -> Errors:
    """A non-negative number, or a percentage."""
    if isinstance(value, str):
        return complain(path, value, names.percent(value))
    return nonnegative(path, value)


def amount_of(value: int | str | None) -> int:
    """The number, or the number of percent; 0 if it is nonsense (which is complained about elsewhere)."""
    if not isinstance(value, str):
        return value or 0
    text = value if names.percent(value) else value[:-1]
    return int(text) if re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII) else 0


def at_most_all(path: str, value: int | str | None) -> Errors:
    if isinstance(value, str) and not names.percent(value) and amount_of(value) > 100:
        return [invalid(path, value, "must not be greater than 100%")]
    return []


def not_above(path: str, status: Spec, fields: tuple[str, ...], limit: str) -> Errors:
    """Each of these counts of `status` must not exceed the count `limit`."""
    total = status.get(limit) or 0
    shown = "status.replicas" if limit == "replicas" else limit
    return [
        invalid(f"{path}.{field}", status.get(field) or 0, f"cannot be greater than {shown}")
        for field in fields
        if (status.get(field) or 0) > total
    ]


def not_decremented(path: str, new: int | None, old: int | None) -> Errors:
    """A counter against collisions of names must not go back."""
    if old is None or (new is not None and new >= old):
        return []
    return [invalid(path, new or 0, "cannot be decremented")]
