"""Kubernetes' EncryptionConfiguration (`--encryption-provider-config`): which resources are sealed, by which keys.

Everything is checked when it is read. No message repeats a key.
Source: apiserver `pkg/apis/apiserver/validation/validation_encryption.go`, `pkg/server/options/encryptionconfig`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.storage.encryption.transformers import MAKERS, Identity, Transformer

VERSION = "apiserver.config.k8s.io/v1"
KIND = "EncryptionConfiguration"
_KEY_SIZES = (16, 24, 32)
_PROVIDERS = ("aesgcm", "aescbc", "secretbox", "identity", "kms")
_MISSING = {
    "kms": "kms providers are not supported: use aesgcm, and keep the file itself under the key manager's care",
    "secretbox": "secretbox is not supported: use aesgcm",
}
_NOT_REST = frozenset(
    ("serviceipallocations", "servicenodeportallocations", "apiserveripinfo", "events.events.k8s.io", "*.events.k8s.io")
)
_REDACTED = "REDACTED"
_OVERLAP = (
    "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
)


class Rule(Struct, frozen=True):
    """Resources (`secrets`, `deployments.apps`, `*.apps`, `*.`, `*.*`) and the keys that open them; the first one seals."""

    resources: tuple[str, ...]
    transformers: tuple[Transformer, ...]


def read(file: Path) -> tuple[Rule, ...]:
    """The configuration in a file; raises ValueError that names what is wrong, OSError."""
    import yaml

    try:
        document = yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)  # not the error's text: it quotes the file
        raise ValueError("is no YAML" + (f": line {mark.line + 1}" if mark is not None else "")) from None
    if not isinstance(document, dict) or document.get("kind") != KIND or document.get("apiVersion") != VERSION:
        raise ValueError(f"expected an {KIND} of {VERSION}")
    return parse(document)


def parse(document: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The configuration that a document says; raises ValueError with every complaint."""
    errors = _unknown("", document, ("apiVersion", "kind", "resources"))
    given = _list(document.get("resources"))
    if not given:
        errors.append(required("resources", "at least one resource is required"))
    masked: list[str] = []
    rules = [_rule(f"resources[{index}]", entry, masked, errors) for index, entry in enumerate(given)]
    if errors:
        raise ValueError("; ".join(map(str, errors)))
    return tuple(rules)


def _rule(path: str, entry: Any, masked: list[str], errors: list[FieldError]) -> Rule:
    if not isinstance(entry, Mapping):
        errors.append(required(path, "a list of resources and one of providers are required"))
        return Rule((), ())
    errors += _unknown(f"{path}.", entry, ("resources", "providers"))
    resources = [str(each) for each in _list(entry.get("resources"))]
    if not resources:
        errors.append(required(f"{path}.resources", "at least one resource is required"))
    errors += _resource_errors(f"{path}.resources", resources, masked)
    masked += resources
    providers = _list(entry.get("providers"))
    if not providers:
        errors.append(required(f"{path}.providers", "at least one provider is required"))
    transformers: list[Transformer] = []
    for index, provider in enumerate(providers):
        transformers += _provider(f"{path}.providers[{index}]", provider, errors)
    return Rule(tuple(resources), tuple(transformers))


# ---- resources


def _resource_errors(path: str, resources: Sequence[str], before: Sequence[str]) -> list[FieldError]:
    errors = []
    for index, resource in enumerate(resources):
        where = f"{path}[{index}]"
        if why := _name_complaint(resource):
            errors.append(invalid(where, resource, why))
        elif resource in resources[:index]:
            errors.append(invalid(path, list(resources), "the same resource cannot be specified multiple times"))
        elif any(_covers(other, resource) for other in before):
            errors.append(invalid(where, resource, "resource is masked by an earlier one"))
    if any(_covers(one, other) for one in resources for other in resources if one != other):
        errors.append(invalid(path, list(resources), _OVERLAP))
    return errors


def _name_complaint(resource: str) -> str:
    group = resource.partition(".")[2]
    if resource == "*":
        return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    if resource != resource.lower():
        return "resource name should not contain capital letters"
    if resource.startswith("*.") and group != "*" and "*" in group:
        return "encrypting the same resource across groups is not supported"
    if not resource.startswith("*.") and "*" in resource:
        return "encrypting the same resource across groups is not supported"
    if group == "events.k8s.io":
        return (
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
        )
    if group == "extensions":
        return "'extensions' group has been removed and cannot be used for encryption"
    if resource in _NOT_REST:
        return "resources which do not have REST API/s cannot be encrypted"
    return ""


def _covers(pattern: str, resource: str) -> bool:
    """Whether one entry of a list of resources means all of another."""
    return pattern in (resource, "*.*") or (pattern.startswith("*.") and pattern[2:] == resource.partition(".")[2])


def chosen(rules: Iterable[Rule], collection: str) -> Rule | None:
    """The rule for `plural` or `plural.group`: one that names it, else its group's, else everything's; None: it is not sealed."""
    by_resource = {resource: rule for rule in reversed(tuple(rules)) for resource in rule.resources}
    group = collection.partition(".")[2]
    return by_resource.get(collection) or by_resource.get(f"*.{group}") or by_resource.get("*.*")


# ---- providers


def _provider(path: str, provider: Any, errors: list[FieldError]) -> list[Transformer]:
    named = [name for name in provider if provider[name] is not None] if isinstance(provider, Mapping) else []
    if len(named) != 1:
        why = "more than one provider specified in a single element, should split into different list elements"
        errors.append(
            invalid(path, named, why) if named else required(path, "provider does not contain any of the expected providers")
        )
        return []
    (name,) = named
    if name not in _PROVIDERS:
        errors.append(required(path, "provider does not contain any of the expected providers: " + ", ".join(_PROVIDERS)))
        return []
    if why := _MISSING.get(name, ""):
        errors.append(invalid(f"{path}.{name}", name, why))
        return []
    if name == "identity":
        return [Identity()]
    return _keys(f"{path}.{name}", name, provider[name], errors)


def _keys(path: str, provider: str, given: Any, errors: list[FieldError]) -> list[Transformer]:
    keys = _list(given.get("keys")) if isinstance(given, Mapping) else []
    if not keys:
        errors.append(required(f"{path}.keys", "at least one key is required"))
    made: list[Transformer] = []
    for index, key in enumerate(keys):
        where = f"{path}.keys[{index}]"
        fields = key if isinstance(key, Mapping) else {}
        name, secret = str(fields.get("name") or ""), str(fields.get("secret") or "")
        complaints = _key_errors(where, name, secret)
        errors += complaints
        if not complaints:
            made.append(MAKERS[provider](name, base64.b64decode(secret)))
    return made


def _key_errors(path: str, name: str, secret: str) -> list[FieldError]:
    errors = []
    if not name:
        errors.append(required(f"{path}.name", "name is a mandatory field for a key"))
    if ":" in name:
        errors.append(invalid(f"{path}.name", name, "must not contain ':'"))
    if not secret:
        return [*errors, required(f"{path}.secret", "secret is a mandatory field for a key")]
    try:
        size = len(base64.b64decode(secret, validate=True))
    except (binascii.Error, ValueError):
        return [*errors, invalid(f"{path}.secret", _REDACTED, "secrets must be base64 encoded")]
    if size not in _KEY_SIZES:
        sizes = f"[{' '.join(map(str, _KEY_SIZES))}]"
        why = f"secret is not of the expected length, got {size}, expected one of {sizes}"
        errors.append(invalid(f"{path}.secret", _REDACTED, why))
    return errors


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _unknown(path: str, given: Mapping[str, Any], known: tuple[str, ...]) -> list[FieldError]:
    return [invalid(f"{path}{name}", name, "unknown field") for name in given if name not in known]
