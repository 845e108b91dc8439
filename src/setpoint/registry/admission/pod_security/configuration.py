"""Kubernetes' PodSecurityConfiguration: what holds where labels say nothing, and who is not judged.

Source: pod-security-admission `admission/api/load`, `admission/api/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import names
from setpoint.registry.admission.pod_security.levels import NOTHING, Level, Policy, parse_level, parse_version

_GROUP = "pod-security.admission.config.k8s.io"
_VERSIONS = tuple(f"{_GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_KIND = "PodSecurityConfiguration"
_MODES = ("enforce", "audit", "warn")


class Exemptions(Struct, frozen=True):
    """Who and what is not judged."""

    users: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


class Settings(Struct, frozen=True):
    """What the operator of a cluster decides."""

    defaults: Policy = NOTHING
    exempt: Exemptions = Exemptions()


DEFAULT = Settings()


def read(document: Mapping[str, Any]) -> Settings:
    """The settings; raises ValueError that names what is wrong."""
    if document.get("apiVersion") not in _VERSIONS or document.get("kind") != _KIND:
        raise ValueError(f"is {document.get('apiVersion')}, Kind={document.get('kind')}, not a {_VERSIONS[0]} {_KIND}")
    given = document.get("defaults") or {}
    levels = {mode: _level(mode, given) for mode in _MODES}
    exempt = document.get("exemptions") or {}
    users = _words(exempt, "usernames", lambda _: [])
    namespaces = _words(exempt, "namespaces", names.dns_label)
    return Settings(Policy(**levels), Exemptions(users, namespaces, _words(exempt, "runtimeClasses", names.dns_subdomain)))


def _level(mode: str, given: Mapping[str, Any]) -> Level:
    name, wrong = parse_level(given.get(mode) or "privileged")
    if wrong:
        raise ValueError(f'defaults.{mode}: Invalid value: "{given[mode]}": {wrong}')
    version = given.get(f"{mode}-version") or "latest"
    minor, wrong = parse_version(version)
    if wrong:
        raise ValueError(f'defaults.{mode}-version: Invalid value: "{version}": {wrong}')
    return Level(name, minor)


def _words(given: Mapping[str, Any], field: str, check: Any) -> frozenset[str]:
    words = given.get(field) or []
    for index, word in enumerate(words):
        where = f"exemptions.{field}[{index}]"
        if not word or (complaints := check(word)):
            raise ValueError(f'{where}: Invalid value: "{word}": {complaints[0] if word else "must not be empty"}')
        if word in words[:index]:
            raise ValueError(f'{where}: Duplicate value: "{word}"')
    return frozenset(words)
