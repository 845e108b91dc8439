"""Name resolution: DNS policy and configuration, host names and aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain

_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MAX_NAMESERVERS, _MAX_SEARCHES, _MAX_SEARCH_LENGTH = 3, 32, 2048


def validate_dns_policy(path: str, policy: str) -> Errors:
    if not policy:
        return [required(path)]
    return [] if policy in _POLICIES else [not_supported(path, policy, _POLICIES)]


def validate_dns_config(path: str, config: Mapping[str, Any] | None, policy: str) -> Errors:
    if policy == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            return [required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")]
    if config is None:
        return []
    errors = _nameservers(f"{path}.nameservers", config.get("nameservers") or [])
    errors += _searches(f"{path}.searches", config.get("searches") or [])
    for i, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{i}]", "must not be empty"))
    return errors


def _nameservers(path: str, servers: Sequence[str]) -> Errors:
    errors: Errors = []
    if len(servers) > _MAX_NAMESERVERS:
        errors.append(invalid(path, servers, f"must not have more than {_MAX_NAMESERVERS} nameservers"))
    for i, server in enumerate(servers):
        errors += complain(f"{path}[{i}]", server, formats.ip(server))
    return errors


def _searches(path: str, searches: Sequence[str]) -> Errors:
    errors: Errors = []
    if len(searches) > _MAX_SEARCHES:
        errors.append(invalid(path, searches, f"must not have more than {_MAX_SEARCHES} search paths"))
    if names.length(" ".join(searches)) > _MAX_SEARCH_LENGTH:
        why = f"must not have more than {_MAX_SEARCH_LENGTH} characters (including spaces) in the search list"
        errors.append(invalid(path, searches, why))
    for i, search in enumerate(searches):
        if search != ".":
            domain = search.removesuffix(".")
            errors += complain(f"{path}[{i}]", domain, names.dns_subdomain_with_underscore(domain))
    return errors


def validate_host_aliases(path: str, aliases: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    for i, alias in enumerate(aliases):
        address = alias.get("ip", "")
        errors += complain(f"{path}[{i}].ip", address, formats.ip(address))
        for j, hostname in enumerate(alias.get("hostnames") or ()):
            errors += dns_subdomain(f"{path}[{i}].hostnames[{j}]", hostname)
    return errors


def validate_hostnames(path: str, spec: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            errors += dns_label(f"{path}.{name}", spec[name])
    return errors
