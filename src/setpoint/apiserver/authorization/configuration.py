"""Kubernetes' AuthorizationConfiguration (`--authorization-config`): which authorisers are asked, in which order.

Everything is checked when it is read, so that a server never starts with a rule that cannot hold.
Source: `apiserver/pkg/apis/apiserver` and its validation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, invalid, not_supported, required
from setpoint.apiserver import configuration_file
from setpoint.apiserver.authorization import webhook
from setpoint.apiserver.authorization.webhook import Policy

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_KIND = "AuthorizationConfiguration"
_TYPES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")
_LONGEST_TIMEOUT = 30.0
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

Document = Mapping[str, Any]


class Entry(Struct, frozen=True):
    """One authoriser: its type and, of a webhook, how it is used and the kubeconfig that says where it is."""

    type: str
    policy: Policy | None = None
    kubeconfig: str = ""


#: what `--authorization-mode=Node,RBAC` says
DEFAULT = (Entry("Node"), Entry("RBAC"))


def read(file: Path) -> tuple[Entry, ...]:
    """The configuration in a file; raises ValueError that names what is wrong, OSError."""
    return parse(configuration_file.read(file, _KIND, _VERSIONS))


def parse(document: Document) -> tuple[Entry, ...]:
    """The configuration that a document says; raises ValueError with every complaint."""
    given = document.get("authorizers") or ()
    errors = [] if given else [required("authorizers", "at least one authorization mode must be defined")]
    seen: set[str] = set()
    for index, entry in enumerate(given):
        errors += _errors(f"authorizers[{index}]", entry, seen)
    if errors:
        raise ValueError("; ".join(map(str, errors)))
    return tuple(map(_entry, given))


def _entry(given: Document) -> Entry:
    hook = given.get("webhook")
    if hook is None:
        return Entry(given["type"])
    cached, refused_cached = hook.get("cacheAuthorizedRequests"), hook.get("cacheUnauthorizedRequests")
    policy = Policy(
        name=given["name"],
        denies_on_failure=hook["failurePolicy"] == "Deny",
        timeout=_seconds(hook["timeout"]) or 0.0,
        authorized_seconds=0.0 if cached is False else _seconds(hook.get("authorizedTTL") or "5m") or 0.0,
        unauthorized_seconds=0.0 if refused_cached is False else _seconds(hook.get("unauthorizedTTL") or "30s") or 0.0,
        conditions=tuple(str(each["expression"]) for each in hook.get("matchConditions") or ()),
    )
    return Entry(given["type"], policy, hook["connectionInfo"]["kubeConfigFile"])


def _errors(path: str, entry: Document, seen: set[str]) -> list[FieldError]:
    kind, hook, name = entry.get("type") or "", entry.get("webhook"), entry.get("name") or ""
    if not kind:
        return [required(f"{path}.type")]
    if kind not in _TYPES:
        return [not_supported(f"{path}.type", kind, _TYPES)]
    errors: list[FieldError] = []
    if kind != "Webhook":
        if kind in seen:
            errors.append(duplicate(f"{path}.type", kind))
        if hook is not None:
            errors.append(invalid(f"{path}.webhook", "non-null", "may only be specified when type=Webhook"))
        seen.add(kind)
        return errors
    if not name:
        errors.append(required(f"{path}.name"))
    elif f"name {name}" in seen:
        errors.append(duplicate(f"{path}.name", name))
    errors += [invalid(f"{path}.name", name, why) for why in (names.dns_subdomain(name) if name else ())]
    seen.add(f"name {name}")
    if hook is None:
        return [*errors, required(f"{path}.webhook", "required when type=Webhook")]
    return errors + _hook_errors(f"{path}.webhook", hook)


def _hook_errors(path: str, hook: Document) -> list[FieldError]:
    errors = _timeout_errors(f"{path}.timeout", hook.get("timeout"))
    for field in ("authorizedTTL", "unauthorizedTTL"):
        text = hook.get(field)
        if text is not None and not _seconds(text):
            errors.append(invalid(f"{path}.{field}", text, "must be > 0s"))
    errors += _choice(f"{path}.subjectAccessReviewVersion", hook.get("subjectAccessReviewVersion"), ("v1",))
    errors += _choice(f"{path}.failurePolicy", hook.get("failurePolicy"), ("NoOpinion", "Deny"))
    connection = hook.get("connectionInfo") or {}
    errors += _choice(f"{path}.connectionInfo.type", connection.get("type"), ("KubeConfigFile",))
    file = connection.get("kubeConfigFile") or ""
    if not file:
        errors.append(required(f"{path}.connectionInfo.kubeConfigFile"))
    elif not Path(file).is_absolute():
        errors.append(invalid(f"{path}.connectionInfo.kubeConfigFile", file, "must be an absolute path"))
    return errors + _condition_errors(path, hook)


def _timeout_errors(path: str, text: Any) -> list[FieldError]:
    if not text:
        return [required(path)]
    seconds = _seconds(text)
    if not seconds or seconds > _LONGEST_TIMEOUT:
        return [invalid(path, text, "must be > 0s and <= 30s")]
    return []


def _condition_errors(path: str, hook: Document) -> list[FieldError]:
    conditions = hook.get("matchConditions") or ()
    errors: list[FieldError] = []
    if conditions:
        version = "matchConditionSubjectAccessReviewVersion"
        errors += _choice(f"{path}.{version}", hook.get(version), ("v1",))
    for index, each in enumerate(conditions):
        where, text = f"{path}.matchConditions[{index}].expression", str(each.get("expression") or "").strip()
        if not text:
            errors.append(required(where))
        elif why := webhook.complaint(text):
            errors.append(invalid(where, text, why))
    return errors


def _choice(path: str, value: Any, known: tuple[str, ...]) -> list[FieldError]:
    if not value:
        return [required(path)]
    return [] if value in known else [not_supported(path, value, known)]


def _seconds(text: Any) -> float | None:
    """A Go duration; None if it is none."""
    if not isinstance(text, str) or _DURATION.fullmatch(text) is None:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
