"""CustomResourceDefinitions.

Source: apiextensions-apiserver `pkg/apis/apiextensions/validation`, `pkg/apis/apiextensions/v1/defaults.go`,
`pkg/registry/customresourcedefinition`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry.admissionregistration.webhook_client import default_client
from setpoint.registry.apiextensions.approval import is_url
from setpoint.registry.apiextensions.conversion import has_good_bundle, validate_conversion
from setpoint.registry.apiextensions.schemas import has_defaults, unrecognized_formats
from setpoint.registry.apiextensions.versions import validate_parts, validate_versions
from setpoint.registry.fields import Errors, immutable, one_of
from setpoint.registry.spec_status import StatusStrategy, VersionedSpecStatusStrategy, fill
from setpoint.registry.strategy import Context, NameRule, Object

_SCOPES = ("Cluster", "Namespaced")
_NAMES = ("plural", "singular", "kind", "listKind")
_APPROVAL = "api-approved.kubernetes.io"
_PROTECTED = ("k8s.io", "kubernetes.io")
_PRESERVING = "spec.preserveUnknownFields"

Spec = Mapping[str, Any]


class DefinitionStrategy(VersionedSpecStatusStrategy):
    """The main endpoint. Status remembers every version that objects were ever stored in."""

    has_generation: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        given = spec.setdefault("names", {})
        if given.get("kind"):
            given["singular"] = given.get("singular") or given["kind"].lower()
            given["listKind"] = given.get("listKind") or f"{given['kind']}List"
        fill(spec, "conversion", {"strategy": "None"})
        default_client((spec["conversion"].get("webhook") or {}).get("clientConfig"))

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {}
        _remember_stored(obj)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        obj["status"] = dict(old.get("status") or {})
        _remember_stored(obj)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_whole(obj) + _approval(obj) + _preserving(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        kinds = ((one.get("names") or {}).get("kind", "") for one in (new, before))
        plurals = ((one.get("names") or {}).get("plural", "") for one in (new, before))
        strict = _is_established(old) and has_good_bundle(before.get("conversion"))
        errors = _validate_whole(obj, before.get("versions") or (), good_bundle=strict)
        if _is_established(old):
            errors += immutable("spec.scope", new.get("scope", ""), before.get("scope", ""))
            errors += immutable("spec.names.kind", *kinds)
        errors += immutable("spec.group", new.get("group", ""), before.get("group", ""))
        errors += immutable("spec.names.plural", *plurals)
        return errors + _approval(obj, old) + ([] if before.get("preserveUnknownFields") else _preserving(obj))

    def name_rule(self, obj: Object) -> NameRule:
        """The name follows from the spec."""
        spec = obj.get("spec") or {}
        wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"

        def rule(name: str, *, prefix: bool) -> list[str]:
            messages = names.dns_subdomain(name, prefix=prefix)
            return messages if name == wanted else [*messages, 'must be spec.names.plural+"."+spec.group']

        return rule

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        """Formats that nobody checks."""
        schemas = [
            (version.get("schema") or {}).get("openAPIV3Schema") for version in (obj.get("spec") or {}).get("versions") or ()
        ]
        return [f'unrecognized format "{kind}"' for kind in unrecognized_formats(schemas)]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        known = set(self.warnings_on_create(context, old))
        return [warning for warning in self.warnings_on_create(context, obj) if warning not in known]


def _remember_stored(obj: Object) -> None:
    status = obj["status"]
    stored = next((version["name"] for version in (obj["spec"].get("versions") or ()) if version.get("storage")), None)
    known = status.get("storedVersions") or []
    if stored is not None and stored not in known:
        status["storedVersions"] = [*known, stored]


def _is_established(obj: Object) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Established" and one.get("status") == "True" for one in conditions)


def _validate_whole(obj: Object, known: Sequence[Spec] = (), *, good_bundle: bool = False) -> Errors:
    """Both of new and changed definitions; `known` are the versions before an update."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    given = spec.get("names") or {}
    errors = _group("spec.group", spec.get("group", ""))
    errors += one_of("spec.scope", spec["scope"], _SCOPES) if spec.get("scope") else [required("spec.scope")]
    errors += _whole_objects(spec)
    errors += validate_versions("spec.versions", spec.get("versions"), known)
    errors += [required(f"spec.names.{field}") for field in _NAMES if not given.get(field)]
    errors += _validate_names("spec.names", given)
    errors += validate_parts("spec", spec.get("versions") or (), known)
    strategy = (spec.get("conversion") or {}).get("strategy", "")
    if spec.get("preserveUnknownFields") and strategy != "None":
        errors.append(invalid("spec.conversion.strategy", strategy, "must be None if spec.preserveUnknownFields is true"))
    errors += validate_conversion("spec.conversion", spec.get("conversion"), good_bundle=good_bundle)
    errors += _validate_names("status.acceptedNames", status.get("acceptedNames") or {})
    return errors + _stored("status.storedVersions", status.get("storedVersions"), spec.get("versions") or ())


def _whole_objects(spec: Spec) -> Errors:
    """Objects that keep everything cannot have defaults."""
    if not spec.get("preserveUnknownFields") or not any(map(has_defaults, spec.get("versions") or ())):
        return []
    return [invalid(_PRESERVING, True, "must be false in order to use defaults in the schema")]


def _preserving(obj: Object) -> Errors:
    if not (obj.get("spec") or {}).get("preserveUnknownFields"):
        return []
    why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [invalid(_PRESERVING, True, why)]


def _group(path: str, group: str) -> Errors:
    if not group:
        return [required(path)]
    if messages := names.dns_subdomain(group):
        return [invalid(path, group, ",".join(messages))]
    return [] if "." in group else [invalid(path, group, "should be a domain with at least one dot")]


def _label(path: str, value: str) -> Errors:
    messages = names.dns1035_label(value)
    return [invalid(path, value, ",".join(messages))] if messages else []


def _mixed_label(path: str, value: str) -> Errors:
    messages = names.dns1035_label(value.lower())
    why = f"may have mixed case, but should otherwise match: {','.join(messages)}"
    return [invalid(path, value, why)] if messages else []


def _validate_names(path: str, given: Spec) -> Errors:
    errors: Errors = []
    for field, check in (("plural", _label), ("singular", _label), ("kind", _mixed_label), ("listKind", _mixed_label)):
        errors += check(f"{path}.{field}", given[field]) if given.get(field) else []
    for i, name in enumerate(given.get("shortNames") or ()):
        errors += _label(f"{path}.shortNames[{i}]", name)
    if given.get("listKind") and given["listKind"] == given.get("kind"):
        errors.append(invalid(f"{path}.listKind", given["listKind"], "kind and listKind may not be the same"))
    for i, name in enumerate(given.get("categories") or ()):
        errors += _label(f"{path}.categories[{i}]", name)
    return errors


def _stored(path: str, stored: Sequence[str] | None, versions: Sequence[Spec]) -> Errors:
    """A version may not go while objects may be stored in it."""
    if not stored:
        return [invalid(path, stored, "must have at least one stored version")]
    errors: Errors = [
        invalid(path, stored, f"must have the storage version {version.get('name', '')}")
        for version in versions
        if version.get("storage") and version.get("name", "") not in stored
    ]
    known = {version.get("name", "") for version in versions}
    for i, name in enumerate(stored):
        if name not in known:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a"
                f" storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            )
            errors.append(invalid(f"{path}[{i}]", name, why))
    return errors


def _approval(obj: Object, old: Object | None = None) -> Errors:
    """Groups of the Kubernetes community need its word, or the admission that there is none.

    An update may leave it as bad as it was.
    """
    group = (obj.get("spec") or {}).get("group", "")
    if not any(group == domain or group.endswith(f".{domain}") for domain in _PROTECTED):
        return []
    errors = _approval_errors(obj)
    same = old is not None and [error.reason for error in errors] == [error.reason for error in _approval_errors(old)]
    return [] if same else errors


def _approval_errors(obj: Object) -> Errors:
    word, path = (obj["metadata"].get("annotations") or {}).get(_APPROVAL, ""), f"metadata.annotations[{_APPROVAL}]"
    intro, see = (
        f'protected groups must have approval annotation "{_APPROVAL}"',
        "https://github.com/kubernetes/enhancements/pull/1111",
    )
    if not word:
        return [required(path, f"{intro}, see {see}")]
    if word.startswith("unapproved") or is_url(word):
        return []
    return [invalid(path, word, f'{intro} with either a URL or a reason starting with "unapproved", see {see}')]


def _validate_status(obj: Object, _old: Object) -> Errors:
    """Names alone: what is stored may be set to anything, and is checked when the definition is written next."""
    return _validate_names("status.acceptedNames", (obj.get("status") or {}).get("acceptedNames") or {})


def definition_status() -> StatusStrategy:
    """The `status` endpoint. Labels and the like can be changed through it, and are owned by who does."""
    return StatusStrategy(DefinitionStrategy(), validate_status=_validate_status)
