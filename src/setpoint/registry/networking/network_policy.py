"""NetworkPolicies.

Source: `pkg/apis/networking/validation`, `pkg/apis/networking/v1/defaults.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.address_warnings import cidr_warnings
from setpoint.registry.fields import Errors, complain, label_selector
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Context, Object, Strategy

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_TYPES = ("Ingress", "Egress")
_SIDES = (("ingress", "from"), ("egress", "to"))

Spec = Mapping[str, Any]


class NetworkPolicyStrategy(Strategy):
    """Which pods may talk to which."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for side, _ in _SIDES:
            for rule in spec.get(side) or ():
                for port in rule.get("ports") or ():
                    fill(port, "protocol", "TCP")

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        """Kubernetes checks the whole as if it were new, and then the change: causes repeat, and wrong networks may not stay."""
        spec, before = obj.get("spec") or {}, old.get("spec") or {}
        lenient = bool(label_selector("", before.get("podSelector")))
        whole = _validate_spec(spec, lenient=lenient)
        return whole + _validate_spec(spec, frozenset(_networks(before)), lenient=lenient) if whole else []

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return list(_network_warnings(obj.get("spec") or {}))

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)


def _network_warnings(spec: Spec) -> Iterator[str]:
    for side, peers in _SIDES:
        for i, rule in enumerate(spec.get(side) or ()):
            for j, peer in enumerate(rule.get(peers) or ()):
                block, path = peer.get("ipBlock"), f"spec.{side}[{i}].{peers}[{j}].ipBlock"
                if block is None:
                    continue
                yield from cidr_warnings(f"{path}.cidr", block.get("cidr", ""))
                for k, value in enumerate(block.get("except") or ()):
                    yield from cidr_warnings(f"{path}.except[{k}]", value)


def _validate_spec(spec: Spec, known: frozenset[str] = frozenset(), *, lenient: bool = False) -> Errors:
    """Networks that are `known` pass, and with `lenient` wrong values of labels, which an old policy may keep."""
    errors = label_selector("spec.podSelector", spec.get("podSelector"), allow_invalid_values=lenient)
    for side, peers in _SIDES:
        for i, rule in enumerate(spec.get(side) or ()):
            path = f"spec.{side}[{i}]"
            for j, port in enumerate(rule.get("ports") or ()):
                errors += _port(f"{path}.ports[{j}]", port)
            for j, peer in enumerate(rule.get(peers) or ()):
                errors += _peer(f"{path}.{peers}[{j}]", peer, known, lenient=lenient)
    types = spec.get("policyTypes") or []
    if len(types) > len(_TYPES):
        return [*errors, invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    return errors + [not_supported(f"spec.policyTypes[{i}]", word, _TYPES) for i, word in enumerate(types) if word not in _TYPES]


def _networks(spec: Spec) -> Iterator[str]:
    for side, peers in _SIDES:
        for rule in spec.get(side) or ():
            for peer in rule.get(peers) or ():
                block = peer.get("ipBlock") or {}
                yield block.get("cidr", "")
                yield from block.get("except") or ()


def _port(path: str, entry: Spec) -> Errors:
    protocol, port, end = entry.get("protocol"), entry.get("port"), entry.get("endPort")
    errors: Errors = []
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if port is None:
        why = "may not be specified when `port` is not specified"
        return errors if end is None else [*errors, invalid(f"{path}.endPort", end, why)]
    if isinstance(port, str):
        if end is not None:
            errors.append(invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric"))
        return errors + complain(f"{path}.port", port, names.port_name(port))
    errors += complain(f"{path}.port", port, names.port_number(port))
    if end is None:
        return errors
    if end < port:
        errors.append(invalid(f"{path}.endPort", port, "must be greater than or equal to `port`"))
    return errors + complain(f"{path}.endPort", end, names.port_number(end))


def _peer(path: str, peer: Spec, known: frozenset[str], *, lenient: bool) -> Errors:
    errors: Errors = []
    selectors = [name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None]
    for name in selectors:
        errors += label_selector(f"{path}.{name}", peer[name], allow_invalid_values=lenient)
    block = peer.get("ipBlock")
    if block is not None:
        errors += _block(f"{path}.ipBlock", block, known)
    if not selectors and block is None:
        errors.append(required(path, "must specify a peer"))
    elif selectors and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _block(path: str, block: Spec, known: frozenset[str]) -> Errors:
    cidr = block.get("cidr", "")
    if not cidr:
        return [required(f"{path}.cidr")]
    errors = [] if cidr in known else complain(f"{path}.cidr", cidr, formats.cidr(cidr))
    whole = formats.parse_cidr(cidr)
    if whole is None:
        return errors
    for i, value in enumerate(block.get("except") or ()):
        here = f"{path}.except[{i}]"
        errors += [] if value in known else complain(here, value, formats.cidr(value))
        part = formats.parse_cidr(value)
        if part is None:
            continue
        if part.version != whole.version or part.network_address not in whole or part.prefixlen <= whole.prefixlen:
            errors.append(invalid(here, value, "must be a strict subset of `cidr`"))
    return errors
