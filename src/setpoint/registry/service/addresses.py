"""Cluster addresses and address families of a Service, before anything is allocated.

The cluster has one family, IPv4, as its service range says.
Source: `pkg/registry/core/service/storage/storage.go`, `alloc.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import duplicate, invalid, not_supported
from setpoint.registry import formats
from setpoint.registry.fields import Errors, complain
from setpoint.registry.service import needs
from setpoint.registry.service.needs import NONE
from setpoint.registry.strategy import Object

FAMILIES = ("IPv4", "IPv6")
CLUSTER_FAMILIES = ("IPv4",)
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")

Spec = Mapping[str, Any]


def normalise(spec: Object, old: Spec | None) -> None:
    """Keep `clusterIP` and `clusterIPs` in step, for clients that know the single field only."""
    single, many = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if old is None:
        if single and not many:
            spec["clusterIPs"] = [single]
        return
    before_single, before_many = old.get("clusterIP", ""), old.get("clusterIPs") or []
    if single != before_single:
        if not many or many == before_many:
            _set_addresses(spec, [single] if single else [])
    elif not many and before_many:
        _set_addresses(spec, [])


def _set_addresses(spec: Object, addresses: list[str]) -> None:
    for field, value in (("clusterIPs", addresses), ("clusterIP", addresses[0] if addresses else "")):
        if value:
            spec[field] = value
        else:
            spec.pop(field, None)


def keep_allocated(spec: Object, old: Spec) -> None:
    """A replace may leave out what the server had allocated."""
    if needs.cluster_ip(spec) and needs.cluster_ip(old):
        if not spec.get("clusterIP") and old.get("clusterIP"):
            spec["clusterIP"] = old["clusterIP"]
        if not spec.get("clusterIPs") and spec.get("clusterIP") == old.get("clusterIP") and old.get("clusterIPs"):
            spec["clusterIPs"] = old["clusterIPs"]
    if needs.allocates_node_ports(spec) and needs.allocates_node_ports(old):
        _keep_node_ports(spec.get("ports") or (), old.get("ports") or ())
    if needs.health_check_port(spec) and needs.health_check_port(old) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = old.get("healthCheckNodePort", 0)


def _keep_node_ports(ports: Sequence[Object], old: Sequence[Spec]) -> None:
    used = {port.get("nodePort", 0) for port in old} & {port.get("nodePort", 0) for port in ports}
    by_name = {port.get("name", ""): port.get("nodePort", 0) for port in old}
    for port in ports:
        before = by_name.get(port.get("name", ""), 0)
        if not port.get("nodePort") and before and before not in used:
            port["nodePort"] = before
            used.add(before)


def related_field_errors(spec: Spec) -> Errors:
    """clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy against each other."""
    if spec.get("type") == "ExternalName":
        return []
    single, many = spec.get("clusterIP", ""), list(spec.get("clusterIPs") or [])
    families, policy = list(spec.get("ipFamilies") or []), spec.get("ipFamilyPolicy")
    errors: Errors = []
    if not single and many:
        errors.append(invalid("spec.clusterIPs", many, "must be empty when `clusterIP` is not specified"))
    elif single and many and many[0] != single:
        errors.append(invalid("spec.clusterIPs", many, "first value must match `clusterIP`"))
    for i, family in enumerate(families):
        if family not in FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{i}]", family, FAMILIES))
        if family in families[:i]:
            errors.append(duplicate(f"spec.ipFamilies[{i}]", family))
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, _POLICIES))
    bad = _address_errors(many)
    errors += bad
    if len(many) > 2:
        errors.append(invalid("spec.clusterIPs", many, "may only hold up to 2 values"))
    return errors if bad else errors + _family_errors(many, families)


def _address_errors(addresses: list[str]) -> Errors:
    errors: Errors = []
    for i, address in enumerate(addresses):
        if i == 0 and address == NONE:
            if len(addresses) > 1:
                errors.append(invalid("spec.clusterIPs", addresses, "'None' must be the first and only value"))
            continue
        errors += complain(f"spec.clusterIPs[{i}]", address, formats.ip(address))
    return errors


def _family_errors(addresses: list[str], families: list[str]) -> Errors:
    errors: Errors = []
    own = [family_of(address) for address in addresses]
    if len(addresses) > 1 and len(set(own)) != 2:
        why = "may specify no more than one IP for each IP family"
        errors.append(invalid("spec.clusterIPs", addresses, why))
    if addresses == [NONE]:
        return errors
    for i, (address, family, wanted) in enumerate(zip(addresses, own, families, strict=False)):
        if family != wanted and wanted in FAMILIES:
            why = f"expected an {wanted} value as indicated by `ipFamilies[{i}]`"
            errors.append(invalid(f"spec.clusterIPs[{i}]", address, why))
    return errors


def family_of(address: str) -> str:
    parsed = formats.parse_ip(address)
    return f"IPv{parsed.version}" if parsed is not None else ""


def settle_families(spec: Object, old: Spec | None = None) -> Errors:
    """Fill in ipFamilies and ipFamilyPolicy; complaints if this cluster cannot do what is asked."""
    if spec.get("type") == "ExternalName" or (old is not None and _prefers_dual_as_before(spec, old)):
        return []
    policy = spec.get("ipFamilyPolicy") or (old or {}).get("ipFamilyPolicy") or _default_policy(spec)
    errors = related_field_errors(spec) or _too_many(spec, old or {}, policy)
    families = list(spec.get("ipFamilies") or [])
    if not errors:
        errors = _infer_families(spec, families)
    if errors:
        return errors
    if needs.is_headless(spec) and not spec.get("selector"):
        families = families or [CLUSTER_FAMILIES[0]]
        if policy != "SingleStack":
            families += [family for family in FAMILIES if family not in families]
    else:
        errors = _unconfigured(policy, families)
    spec["ipFamilies"], spec["ipFamilyPolicy"] = families or [CLUSTER_FAMILIES[0]], policy
    return errors


def _prefers_dual_as_before(spec: Spec, old: Spec) -> bool:
    """A Service that takes what there is keeps what it has, whatever the cluster has become."""
    fields = ("type", "ipFamilyPolicy", "clusterIPs", "ipFamilies")
    return (
        spec.get("ipFamilyPolicy") == "PreferDualStack"
        and needs.cluster_ip(spec)
        and all(spec.get(name) == old.get(name) for name in fields)
    )


def _default_policy(spec: Spec) -> str:
    return "RequireDualStack" if needs.is_headless(spec) and not spec.get("selector") else "SingleStack"


def _too_many(spec: Object, old: Spec, policy: str) -> Errors:
    """Two of them need a policy for two; and one of two is given up by saying so."""
    errors: Errors = []
    for field, one, several in (
        ("clusterIPs", "secondary cluster IP", "cluster IPs"),
        ("ipFamilies", "secondary IP family", "IP families"),
    ):
        new, before = spec.get(field) or [], old.get(field) or []
        if policy == "SingleStack" and new == before and len(new) > 1:
            spec[field] = new[:1]
        elif policy == "SingleStack" and len(new) == 2:
            why = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {several} are specified"
            errors.append(invalid("spec.ipFamilyPolicy", policy, why))
        elif policy != "SingleStack" and new and len(new) < len(before) and new == before[: len(new)]:
            errors.append(invalid("spec.ipFamilyPolicy", policy, f"must be 'SingleStack' to release the {one}"))
    return errors


def _infer_families(spec: Spec, families: list[str]) -> Errors:
    """Addresses say to which family they belong."""
    addresses = [address for address in spec.get("clusterIPs") or [] if address != NONE]
    errors: Errors = []
    for i, address in enumerate(addresses):
        family = family_of(address)
        if i < len(families):
            continue
        if family in CLUSTER_FAMILIES:
            families.append(family)
        else:
            errors.append(invalid(f"spec.clusterIPs[{i}]", addresses, f"{family} is not configured on this cluster"))
    return errors


def _unconfigured(policy: str, families: list[str]) -> Errors:
    errors: Errors = []
    if policy == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", policy, why))
    return errors + [
        invalid(f"spec.ipFamilies[{i}]", family, "not configured on this cluster")
        for i, family in enumerate(families)
        if family not in CLUSTER_FAMILIES
    ]


def change_errors(spec: Spec, old: Spec) -> Errors:
    """The primary address and family are for life, unless the Service comes from or goes to ExternalName; without addresses
    (headless) nothing depends on the families.
    """
    if "ExternalName" in {spec.get("type"), old.get("type")}:
        return []
    was, headless = needs.is_headless(old), needs.is_headless(spec)
    errors = [] if was and headless else _changed("clusterIPs", "clusterIP", spec, old)
    return errors if was or headless else errors + _changed("ipFamilies", "ipFamily", spec, old)


def _changed(field: str, one: str, spec: Spec, old: Spec) -> Errors:
    new, before = list(spec.get(field) or []), list(old.get(field) or [])
    if before and not new:
        return [invalid(f"spec.{field}[0]", None, f"primary {one} can not be unset")]
    if before and new[0] != before[0]:
        return [invalid(f"spec.{field}[0]", new, "may not change once set")]
    return []
