"""Node affinity, pod affinity and anti-affinity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.fields import Errors, complain, label_selector, qualified_name
from setpoint.registry.pod.validation.options import Options

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def validate_affinity(path: str, affinity: Mapping[str, Any], options: Options) -> Errors:
    errors: Errors = []
    node = affinity.get("nodeAffinity")
    if node is not None:
        errors += _node_affinity(f"{path}.nodeAffinity", node, options)
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name)
        if pods is not None:
            errors += _pod_affinity(f"{path}.{name}", pods, options)
    return errors


def _node_affinity(path: str, affinity: Mapping[str, Any], options: Options) -> Errors:
    errors: Errors = []
    selector = affinity.get(_REQUIRED)
    if selector is not None:
        loose = options.allow_invalid_required_node_affinity
        errors += validate_node_selector(f"{path}.{_REQUIRED}", selector, allow_invalid_values=loose)
    for i, term in enumerate(affinity.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{i}]"
        errors += _weight(here, term)
        # label values of preferences are never checked: they may match nothing and still be fine
        errors += _node_term(f"{here}.preference", term.get("preference") or {}, allow_invalid_values=True)
    return errors


def _weight(path: str, term: Mapping[str, Any]) -> Errors:
    weight = term.get("weight", 0)
    return [] if 1 <= weight <= 100 else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def validate_node_selector(path: str, selector: Mapping[str, Any], *, allow_invalid_values: bool = False) -> Errors:
    """Also used for volumes and for services of dynamic resources."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        return [required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    errors: Errors = []
    for i, term in enumerate(terms):
        errors += _node_term(f"{path}.nodeSelectorTerms[{i}]", term, allow_invalid_values=allow_invalid_values)
    return errors


def _node_term(path: str, term: Mapping[str, Any], *, allow_invalid_values: bool) -> Errors:
    errors: Errors = []
    for i, requirement in enumerate(term.get("matchExpressions") or ()):
        errors += _node_requirement(f"{path}.matchExpressions[{i}]", requirement, allow_invalid_values=allow_invalid_values)
    for i, requirement in enumerate(term.get("matchFields") or ()):
        errors += _field_requirement(f"{path}.matchFields[{i}]", requirement)
    return errors


def _node_requirement(path: str, requirement: Mapping[str, Any], *, allow_invalid_values: bool) -> Errors:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    errors: Errors = []
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            errors.append(forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            errors.append(required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    errors += qualified_name(f"{path}.key", requirement.get("key", ""))
    if not allow_invalid_values:
        for i, value in enumerate(values):
            errors += complain(f"{path}.values[{i}]", value, names.label_value(value))
    return errors


def _field_requirement(path: str, requirement: Mapping[str, Any]) -> Errors:
    operator, key, values = requirement.get("operator", ""), requirement.get("key", ""), requirement.get("values") or ()
    errors: Errors = []
    if operator not in {"In", "NotIn"}:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", why))
    if key != "metadata.name":
        return [*errors, invalid(f"{path}.key", key, "not a valid field selector key")]
    for i, value in enumerate(values):
        errors += complain(f"{path}.values[{i}]", value, names.dns_subdomain(value))
    return errors


def _pod_affinity(path: str, affinity: Mapping[str, Any], options: Options) -> Errors:
    errors: Errors = []
    for i, term in enumerate(affinity.get(_REQUIRED) or ()):
        errors += _pod_term(f"{path}.{_REQUIRED}[{i}]", term, options)
    for i, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{i}]"
        errors += _weight(here, weighted)
        errors += _pod_term(f"{here}.podAffinityTerm", weighted.get("podAffinityTerm") or {}, options)
    return errors


def _pod_term(path: str, term: Mapping[str, Any], options: Options) -> Errors:
    loose = options.allow_invalid_selector_values
    errors: Errors = []
    for name in ("labelSelector", "namespaceSelector"):
        errors += label_selector(f"{path}.{name}", term.get(name), allow_invalid_values=loose)
    for namespace in term.get("namespaces") or ():
        errors += complain(f"{path}.namespace", namespace, names.dns_label(namespace))
    errors += validate_label_keys(path, term)
    key = term.get("topologyKey", "")
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + qualified_name(f"{path}.topologyKey", key)


def validate_label_keys(path: str, term: Mapping[str, Any]) -> Errors:
    """MatchLabelKeys and mismatchLabelKeys, which the server has already merged into the selector; also of topology spread."""
    match = term.get("matchLabelKeys") or ()
    mismatch = term.get("mismatchLabelKeys") or ()
    selector = term.get("labelSelector")
    errors = _label_keys(f"{path}.matchLabelKeys", match, selector)
    errors += _label_keys(f"{path}.mismatchLabelKeys", mismatch, selector)
    errors += _selected_twice(path, match, selector)
    both = "exists in both matchLabelKeys and mismatchLabelKeys"
    errors += [invalid(f"{path}.matchLabelKeys[{i}]", key, both) for i, key in enumerate(match) if key in mismatch]
    return errors


def _selected_twice(path: str, keys: Sequence[str], selector: Mapping[str, Any] | None) -> Errors:
    """A key of matchLabelKeys that the user's own selector has, too: merged, it is there a second time."""
    places = {key: i for i, key in enumerate(keys)}
    seen = set((selector or {}).get("matchLabels") or ())
    errors: Errors = []
    for expression in (selector or {}).get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in places and key in seen:
            errors.append(invalid(f"{path}[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector"))
        seen.add(key)
    return errors


def _label_keys(path: str, keys: Sequence[str], selector: Mapping[str, Any] | None) -> Errors:
    if not keys:
        return []
    if selector is None:
        return [forbidden(path, "must not be specified when labelSelector is not set")]
    errors: Errors = []
    for i, key in enumerate(keys):
        errors += qualified_name(f"{path}[{i}]", key)
    return errors
