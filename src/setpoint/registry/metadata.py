"""The rules of `metadata`, the same for every kind.

Source: apimachinery `api/validation/objectmeta.go`, Kubernetes `apis/core/validation` (finalizer names), apiserver
`registry/rest` (create.go, update.go: what the server sets itself).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, required, too_long
from setpoint.registry import generated
from setpoint.registry.strategy import NameRule, Object

Metadata = dict[str, Any]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_STANDARD_FINALIZERS = ("kubernetes", ORPHAN, FOREGROUND)
_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_FIELD = "metadata"
_SUBRESOURCE_LIMIT = 256


def fill_for_create(metadata: Metadata, created: str) -> None:
    """Set what the server owns on a new object; drop what a creator cannot say (deletion, selfLink)."""
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)
    metadata["uid"] = generated.uid()
    metadata["creationTimestamp"] = created


def keep_on_update(metadata: Metadata, old: Mapping[str, Any]) -> None:
    """Keep what an update cannot change: uid when left out, creation and deletion times, selfLink gone."""
    metadata.pop("selfLink", None)
    if not metadata.get("uid"):
        metadata["uid"] = old["uid"]
    metadata["creationTimestamp"] = old["creationTimestamp"]
    if old.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = old["deletionTimestamp"]
        if metadata.get("deletionGracePeriodSeconds") is None and "deletionGracePeriodSeconds" in old:
            metadata["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]


def validate(
    metadata: Mapping[str, Any], *, namespaced: bool, name_rule: NameRule, shared: Sequence[FieldError] | None = None
) -> list[FieldError]:
    """ValidateObjectMeta: the rules for a new object's metadata. `name_rule(name, prefix=…)` gives complaints; `shared` are those
    that `validate_shared` has given already.
    """
    errors = _names(metadata, namespaced=namespaced, name_rule=name_rule)
    if (metadata.get("generation") or 0) < 0:
        errors.append(invalid(f"{_FIELD}.generation", metadata["generation"], "must be greater than or equal to 0"))
    errors += validate_shared(metadata) if shared is None else shared
    errors += validate_finalizers(metadata.get("finalizers") or ())
    return errors + validate_managers(metadata)


def validate_change(
    metadata: Mapping[str, Any], old: Mapping[str, Any], shared: Sequence[FieldError] | None = None
) -> list[FieldError]:
    """ValidateObjectMetaUpdate: what an update may not do to metadata; `shared` as in `validate`."""
    errors: list[FieldError] = []
    if old.get("deletionTimestamp"):
        errors += _no_new_finalizers(metadata.get("finalizers") or (), old.get("finalizers") or ())
    if not metadata.get("resourceVersion"):
        errors.append(invalid(f"{_FIELD}.resourceVersion", "", "must be specified for an update"))
    if (metadata.get("generation") or 0) < (old.get("generation") or 0):
        errors.append(invalid(f"{_FIELD}.generation", metadata.get("generation") or 0, "must not be decremented"))
    errors += [
        invalid(f"{_FIELD}.{name}", metadata.get(name), "field is immutable")
        for name in _IMMUTABLE
        if metadata.get(name) != old.get(name)
    ]
    return [*errors, *(validate_shared(metadata) if shared is None else shared), *validate_managers(metadata)]


def validate_finalizer_words(metadata: Mapping[str, Any]) -> list[FieldError]:
    """The rule that only built-in kinds have: a finalizer without a domain must be one of the standard ones."""
    return [
        invalid(f"{_FIELD}.finalizers[{index}]", word, "name is neither a standard finalizer name nor is it fully qualified")
        for index, word in enumerate(metadata.get("finalizers") or ())
        if "/" not in word and word not in _STANDARD_FINALIZERS
    ]


def _names(metadata: Mapping[str, Any], *, namespaced: bool, name_rule: NameRule) -> list[FieldError]:
    errors: list[FieldError] = []
    if prefix := metadata.get("generateName"):
        errors += [invalid(f"{_FIELD}.generateName", prefix, text) for text in name_rule(prefix, prefix=True)]
    if name := metadata.get("name"):
        errors += [invalid(f"{_FIELD}.name", name, text) for text in name_rule(name, prefix=False)]
    else:
        errors.append(required(f"{_FIELD}.name", "name or generateName is required"))
    namespace = metadata.get("namespace")
    if not namespaced:
        if namespace:
            errors.append(forbidden(f"{_FIELD}.namespace", "not allowed on this type"))
    elif namespace:
        errors += [invalid(f"{_FIELD}.namespace", namespace, text) for text in names.dns_label(namespace)]
    else:
        errors.append(required(f"{_FIELD}.namespace"))
    return errors


def validate_shared(metadata: Mapping[str, Any]) -> list[FieldError]:
    """What new and changed metadata are asked for alike."""
    errors: list[FieldError] = []
    if labels := metadata.get("labels"):
        errors += names.label_errors(labels, f"{_FIELD}.labels")
    if annotations := metadata.get("annotations"):
        errors += names.annotation_errors(annotations, f"{_FIELD}.annotations")
    if owners := metadata.get("ownerReferences"):
        errors += validate_owners(owners)
    return errors


def validate_managers(metadata: Mapping[str, Any]) -> list[FieldError]:
    """Complaints about names in managedFields: the rest of an entry that cannot be read was not taken at all."""
    errors: list[FieldError] = []
    for index, entry in enumerate(metadata.get("managedFields") or ()):
        field = f"{_FIELD}.managedFields[{index}]"
        errors += names.manager_errors(entry.get("manager", ""), f"{field}.manager")
        if len(entry.get("subresource", "").encode()) > _SUBRESOURCE_LIMIT:
            errors.append(too_long(f"{field}.subresource", _SUBRESOURCE_LIMIT))
    return errors


def validate_owners(owners: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """Complaints about ownerReferences; the path has no index, as in Kubernetes."""
    field = f"{_FIELD}.ownerReferences"
    errors: list[FieldError] = []
    controller = ""
    for owner in owners:
        errors += _owner(owner, field)
        if not owner.get("controller"):
            continue
        name = f"{owner.get('kind', '')}/{owner.get('name', '')}"
        if controller:
            errors.append(
                invalid(
                    field,
                    [_owner_value(each) for each in owners],
                    f'Only one reference can have Controller set to true. Found "true" in references for {controller} and {name}',
                )
            )
        else:
            controller = name
    return errors


def _owner(owner: Mapping[str, Any], field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    version = owner.get("apiVersion") or ""
    known = version.count("/") <= 1 and version.rpartition("/")[2] != ""
    if not known:
        errors.append(invalid(f"{field}.apiVersion", version, "version must not be empty"))
    errors += [invalid(f"{field}.{name}", "", "must not be empty") for name in ("kind", "name", "uid") if not owner.get(name)]
    if known and version == "v1" and owner.get("kind") == "Event":
        errors.append(invalid(field, _owner_value(owner), "/v1, Kind=Event is disallowed from being an owner"))
    return errors


def _owner_value(owner: Mapping[str, Any]) -> dict[str, Any]:
    """An owner reference with its fields in the order of the Go struct, for messages."""
    value: dict[str, Any] = {name: owner.get(name) or "" for name in ("apiVersion", "kind", "name", "uid")}
    value.update({name: owner[name] for name in ("controller", "blockOwnerDeletion") if owner.get(name) is not None})
    return value


def validate_finalizers(finalizers: Sequence[str]) -> list[FieldError]:
    """Complaints about the form of finalizers."""
    field = f"{_FIELD}.finalizers"
    errors = [invalid(field, word, text) for word in finalizers for text in names.qualified_name(word)]
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        errors.append(invalid(field, list(finalizers), f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set"))
    return errors


def _no_new_finalizers(finalizers: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    extra = sorted(set(finalizers) - set(old))
    if not extra:
        return []
    listed = ", ".join(f'"{word}"' for word in extra)
    return [
        forbidden(
            f"{_FIELD}.finalizers",
            f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{listed}}}",
        )
    ]


def deduplicate_owners(obj: Object) -> list[str]:
    """Drop repeated ownerReferences; the warnings that tell of it."""
    owners = obj["metadata"].get("ownerReferences")
    if not owners or len(owners) < 2:
        return []
    kept: list[Any] = []
    repeated: list[str] = []
    for owner in owners:
        if owner in kept:
            repeated.append(str(owner.get("uid", "")))
        else:
            kept.append(owner)
    if not repeated:
        return []
    obj["metadata"]["ownerReferences"] = kept
    listed = ", ".join(dict.fromkeys(repeated))
    return [
        (
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
            f"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {listed}"
        )
    ]
