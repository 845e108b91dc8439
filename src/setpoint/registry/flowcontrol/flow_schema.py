"""FlowSchemas: which requests belong to which priority level.

Source: `pkg/registry/flowcontrol/flowschema`, `pkg/apis/flowcontrol/validation`, `pkg/apis/flowcontrol/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, complain, dns_label, required_subdomain
from setpoint.registry.spec_status import STATUS_METADATA, SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

_DEFAULT_PRECEDENCE = 1000
_LAST_PRECEDENCE = 10_000
_METHODS = ("ByNamespace", "ByUser")
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_KINDS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}

Rule = Mapping[str, Any]


def _everything(*groups: str) -> list[Object]:
    subjects = [{"kind": "Group", "group": {"name": group}} for group in groups]
    everywhere = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    return [
        {
            "subjects": subjects,
            "resourceRules": [everywhere],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }
    ]


#: the schemas that must be as they are, since requests would starve without them
MANDATORY: dict[str, Object] = {
    "exempt": {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 1,
        "rules": _everything("system:masters"),
    },
    "catch-all": {
        "priorityLevelConfiguration": {"name": "catch-all"},
        "matchingPrecedence": _LAST_PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": _everything("system:unauthenticated", "system:authenticated"),
    },
}


class FlowSchemaStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _DEFAULT_PRECEDENCE

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        name, spec = obj["metadata"].get("name", ""), obj.get("spec") or {}
        errors = _validate_spec(name, spec)
        wanted = MANDATORY.get(name)
        shown = go_form.of(spec, "FlowSchemaSpec")
        if wanted is not None and not go_form.equal(shown, go_form.of(wanted, "FlowSchemaSpec")):
            errors.append(invalid("spec", shown, f"spec of '{name}' must equal the fixed value"))
        return errors + validate_conditions(obj, obj)


def _validate_spec(name: str, spec: Rule) -> Errors:
    precedence, path = spec.get("matchingPrecedence", 0), "spec.matchingPrecedence"
    errors: Errors = []
    if precedence <= 0:
        errors.append(invalid(path, precedence, "must be a positive value"))
    if precedence > _LAST_PRECEDENCE:
        errors.append(invalid(path, precedence, f"must not be greater than {_LAST_PRECEDENCE}"))
    if precedence == 1 and name != "exempt":
        errors.append(invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type", "") not in _METHODS:
        shown = go_form.of(method, "FlowDistinguisherMethod")
        errors.append(not_supported("spec.distinguisherMethod.type", shown, _METHODS))
    level, path = (spec.get("priorityLevelConfiguration") or {}).get("name", ""), "spec.priorityLevelConfiguration.name"
    errors += complain(path, level, names.dns_subdomain(level)) if level else [required(path, "must reference a priority level")]
    for i, rule in enumerate(spec.get("rules") or ()):
        errors += _rule(f"spec.rules[{i}]", rule)
    return errors


def _rule(path: str, rule: Rule) -> Errors:
    errors: Errors = []
    for i, subject in enumerate(rule.get("subjects") or ()):
        errors += _subject(f"{path}.subjects[{i}]", subject)
    if not rule.get("subjects"):
        errors.append(required(f"{path}.subjects", "subjects must contain at least one value"))
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        errors.append(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
    for i, entry in enumerate(rule.get("resourceRules") or ()):
        errors += _resource_rule(f"{path}.resourceRules[{i}]", entry)
    for i, entry in enumerate(rule.get("nonResourceRules") or ()):
        errors += _non_resource_rule(f"{path}.nonResourceRules[{i}]", entry)
    return errors


def _subject(path: str, subject: Rule) -> Errors:
    kind = subject.get("kind", "")
    if kind not in _KINDS:
        return [not_supported(f"{path}.kind", kind, _KINDS)]
    field = _KINDS[kind]
    details = subject.get(field)
    errors = _details(f"{path}.{field}", kind, field, details)
    for other in ("ServiceAccount", "User", "Group"):
        if other != kind and subject.get(_KINDS[other]) is not None:
            word = _KINDS[other]
            errors.append(forbidden(f"{path}.{word}", f"{word} is forbidden when subject kind is not '{other}'"))
    return errors


def _details(path: str, kind: str, field: str, details: Rule | None) -> Errors:
    if details is None:
        return [required(path, f"{field} is required when subject kind is '{kind}'")]
    name, namespace = details.get("name", ""), details.get("namespace", "")
    if kind != "ServiceAccount":
        return [] if name else [required(f"{path}.name")]
    errors = [] if name == "*" else required_subdomain(f"{path}.name", name)
    if namespace:
        return errors + dns_label(f"{path}.namespace", namespace)
    return [*errors, required(f"{path}.namespace", "must specify namespace for service account")]


def _verbs(path: str, verbs: Sequence[str]) -> Errors:
    if not verbs:
        return [required(path, "verbs must contain at least one value")]
    if "*" in verbs:
        return _alone(path, verbs, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [not_supported(path, verbs, _VERBS)]


def _alone(path: str, values: Sequence[str], what: str) -> Errors:
    """A `*` says it all."""
    if "*" in values and len(values) > 1:
        return [invalid(path, values, f"if '*' is present, must not specify other {what}")]
    return []


def _resource_rule(path: str, rule: Rule) -> Errors:
    groups, resources, namespaces = (rule.get(field) or () for field in ("apiGroups", "resources", "namespaces"))
    errors = _verbs(f"{path}.verbs", rule.get("verbs") or ())
    if not groups:
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    errors += _alone(f"{path}.apiGroups", groups, "api groups")
    if not resources:
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    errors += _alone(f"{path}.resources", resources, "resources")
    if not namespaces and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(f"{path}.namespaces", why))
    if "*" in namespaces:
        return errors + _alone(f"{path}.namespaces", namespaces, "namespaces")
    intro = "each member of this list must be '*' or a DNS-1123 label; "
    for i, namespace in enumerate(namespaces):
        errors += complain(f"{path}.namespaces[{i}]", namespace, (intro + text for text in names.dns_label(namespace)))
    return errors


def _non_resource_rule(path: str, rule: Rule) -> Errors:
    urls = rule.get("nonResourceURLs") or ()
    errors = _verbs(f"{path}.verbs", rule.get("verbs") or ())
    if not urls:
        return [*errors, required(f"{path}.nonResourceURLs", "nonResourceURLs must contain at least one value")]
    if "*" in urls:
        return errors + _alone(f"{path}.nonResourceURLs", urls, "non-resource URLs")
    for i, url in enumerate(urls):
        errors += complain(f"{path}.nonResourceURLs[{i}]", url, _url(url))
    return errors


def _url(url: str) -> list[str]:
    if not url:
        return ["must not be empty"]
    if url == "/":
        return []
    if not url.startswith("/"):
        return ["must start with slash"]
    if " " in url:
        return ["must not contain white-space"]
    if "//" in url:
        return ["must not contain double slash"]
    stars = url.count("*")
    return ["wildcard can only do suffix matching"] if stars > 1 or (stars and not url.endswith("/*")) else []


def validate_conditions(obj: Object, _old: Object) -> Errors:
    """Conditions of a status: each type once."""
    errors: Errors = []
    seen: set[str] = set()
    for i, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        kind, path = condition.get("type", ""), f"status.conditions[{i}].type"
        if kind in seen:
            errors.append(duplicate(path, kind))
        seen.add(kind)
        errors += [] if kind else [required(path, "must not be empty")]
    return errors


def flow_schema_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(FlowSchemaStrategy(), keep_metadata=STATUS_METADATA, validate_status=validate_conditions)
