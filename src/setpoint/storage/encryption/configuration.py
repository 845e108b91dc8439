"""Kubernetes' EncryptionConfiguration (`--encryption-provider-config`): which resources are sealed, by which keys.

Everything is checked when it is read. No message repeats a key.
Source: apiserver `pkg/apis/apiserver/validation/validation_encryption.go`, `pkg/server/options/encryptionconfig`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.storage.encryption.transformers import MAKERS, Identity, Transformer

VERSION = "apiserver.config.k8s.io/v1"
KIND = "EncryptionConfiguration"
_KEY_SIZES: Mapping[str, tuple[int, ...]] = {"aesgcm": (16, 24, 32), "aescbc": (16, 24, 32), "secretbox": (32,)}
_PROVIDERS = ("kms", "aesgcm", "aescbc", "secretbox", "identity")
_NO_PROVIDER = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
_KMS_V1 = (
    "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  "
    "Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature."
)
_KMS_TIMEOUT = 3.0  # seconds, where the configuration says nothing
_DURATION = re.compile(r"([0-9]*\.?[0-9]+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
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
        errors.append(required("resources", "at least one resources is required"))
    found = _Found([], set(), errors)
    rules = [_rule(f"resources[{index}]", entry, found) for index, entry in enumerate(given)]
    if errors:
        told = list(dict.fromkeys(map(str, errors)))
        raise ValueError(told[0] if len(told) == 1 else f"[{', '.join(told)}]")
    return tuple(rules)


class _Found(Struct):
    """What was found so far: resources of earlier rules, names of kms providers, complaints."""

    masked: list[str]
    kms_names: set[str]
    errors: list[FieldError]


def _rule(path: str, entry: Any, found: _Found) -> Rule:
    errors = found.errors
    if not isinstance(entry, Mapping):
        errors.append(required(path, "a list of resources and one of providers are required"))
        return Rule((), ())
    errors += _unknown(f"{path}.", entry, ("resources", "providers"))
    resources = [str(each) for each in _list(entry.get("resources"))]
    if not resources:
        errors.append(required(f"{path}.resources", f"at least one {path}.resources is required"))
    errors += _resource_errors(f"{path}.resources", resources, found.masked)
    found.masked += resources
    providers = _list(entry.get("providers"))
    if not providers:
        errors.append(required(f"{path}.providers", f"at least one {path}.providers is required"))
    transformers: list[Transformer] = []
    for index, provider in enumerate(providers):
        transformers += _provider(f"{path}.providers[{index}]", provider, found)
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
        elif by := next((other for other in before if _covers(other, resource)), ""):
            errors.append(invalid(where, resource, f'resource "{resource}" is masked by earlier rule "{by}"'))
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


def _provider(path: str, provider: Any, found: _Found) -> list[Transformer]:
    given = provider if isinstance(provider, Mapping) else {}
    errors = found.errors
    errors += _unknown(f"{path}.", given, _PROVIDERS)
    named = [name for name in _PROVIDERS if given.get(name) is not None]
    if len(named) != 1:
        why = "more than one provider specified in a single element, should split into different list elements"
        errors.append(invalid(path, named, why) if named else invalid(path, {}, _NO_PROVIDER))
        return []
    (name,) = named
    if name == "identity":
        return [Identity()]
    if why := _lacks(name):
        errors.append(invalid(f"{path}.{name}", name, why))
        return []
    if name == "kms":
        return _kms(f"{path}.kms", given["kms"], found)
    return _keys(f"{path}.{name}", name, given[name], errors)


def _lacks(provider: str) -> str:
    """Which extra of ours a provider needs that is not installed; empty for none."""
    module = {"kms": "grpc", "secretbox": "nacl"}.get(provider)
    if module is None or find_spec(module) is not None:
        return ""
    return f"{provider} needs Setpoint's extra: pip install 'setpoint[{provider}]'"


def _kms(path: str, given: Any, found: _Found) -> list[Transformer]:
    """One provider, or none where anything is wrong; version 1 is refused as a whole."""
    fields = given if isinstance(given, Mapping) else {}
    name, version = str(fields.get("name") or ""), str(fields.get("apiVersion") or "v1")
    endpoint, timeout = str(fields.get("endpoint") or ""), _seconds(fields.get("timeout"))
    errors = _unknown(f"{path}.", fields, ("apiVersion", "name", "cachesize", "endpoint", "timeout"))
    if not name:
        errors.append(required(f"{path}.name", "name is a mandatory field for a provider"))
    if ":" in name:
        errors.append(invalid(f"{path}.name", name, f"invalid KMS provider name {name}, must not contain ':'"))
    if name in found.kms_names:
        errors.append(invalid(f"{path}.name", name, f"duplicate KMS provider name {name}, names must be unique"))
    found.kms_names.add(name)
    if timeout <= 0:
        errors.append(invalid(f"{path}.timeout", str(fields.get("timeout")), "timeout should be a positive value"))
    errors += _endpoint_errors(f"{path}.endpoint", endpoint)
    if version != "v1" and fields.get("cachesize") is not None:
        errors.append(invalid(f"{path}.cachesize", fields["cachesize"], "cachesize is not supported in v2"))
    if version not in ("v1", "v2"):
        why = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"
        errors.append(invalid(f"{path}.apiVersion", version, why))
    if version == "v1" and not errors:
        raise ValueError(_KMS_V1)
    found.errors += errors
    if errors:
        return []
    from setpoint.storage.encryption.envelope import Envelope
    from setpoint.storage.encryption.kms_plugin import SocketPlugin

    return [Envelope(name, SocketPlugin(endpoint, timeout, name))]


def _endpoint_errors(path: str, endpoint: str) -> list[FieldError]:
    if not endpoint:
        return [invalid(path, "", "endpoint is a mandatory field for a kms")]
    scheme = endpoint.partition(":")[0] if ":" in endpoint else ""
    if scheme != "unix":
        return [invalid(path, endpoint, f'unsupported scheme "{scheme}" for KMS provider, only unix is supported')]
    return []


def _seconds(given: Any) -> float:
    """A duration of Go's (`3s`, `1m30s`); zero for what is none."""
    if given is None:
        return _KMS_TIMEOUT
    text = str(given)
    parts = _DURATION.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        return 0.0
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _keys(path: str, provider: str, given: Any, errors: list[FieldError]) -> list[Transformer]:
    keys = _list(given.get("keys")) if isinstance(given, Mapping) else []
    if not keys:
        errors.append(required(f"{path}.keys", "at least one keys is required"))
    made: list[Transformer] = []
    for index, key in enumerate(keys):
        where = f"{path}.keys[{index}]"
        fields = key if isinstance(key, Mapping) else {}
        name, secret = str(fields.get("name") or ""), str(fields.get("secret") or "")
        complaints = _key_errors(where, name, secret, _KEY_SIZES[provider])
        errors += complaints
        if not complaints:
            made.append(MAKERS[provider](name, base64.b64decode(secret)))
    return made


def _key_errors(path: str, name: str, secret: str, sizes: Sequence[int]) -> list[FieldError]:
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
    if size not in sizes:
        why = f"secret is not of the expected length, got {size}, expected one of [{' '.join(map(str, sizes))}]"
        errors.append(invalid(f"{path}.secret", _REDACTED, why))
    return errors


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _unknown(path: str, given: Mapping[str, Any], known: tuple[str, ...]) -> list[FieldError]:
    return [invalid(f"{path}{name}", name, "unknown field") for name in given if name not in known]
