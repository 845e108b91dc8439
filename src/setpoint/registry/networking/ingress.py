"""Ingresses.

Source: `pkg/registry/networking/ingress`, `pkg/apis/networking/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.address_warnings import ip_warnings
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain, required_segment
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

_CLASS = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")
_NOT_AN_ADDRESS = "must be a DNS name, not an IP address"

Spec = Mapping[str, Any]


class IngressStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = _validate_spec(obj.get("spec") or {}, {})
        given, name = (obj["metadata"].get("annotations") or {}).get(_CLASS), (obj.get("spec") or {}).get("ingressClassName")
        if given is not None and name is not None and given != name:
            errors.append(invalid(f"annotations.{_CLASS}", given, "must match `ingressClassName` when both are specified"))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, old.get("spec") or {})

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        annotated = _CLASS in (obj["metadata"].get("annotations") or {})
        if not annotated or (obj.get("spec") or {}).get("ingressClassName") is not None:
            return []
        return [f"annotation \"{_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"]


def _validate_spec(spec: Spec, old: Spec) -> Errors:
    """What an old Ingress already had wrong in its secrets' names and wildcard rules it may keep."""
    errors: Errors = []
    backend, rules = spec.get("defaultBackend"), spec.get("rules")
    if not rules and backend is None:
        errors.append(invalid("spec", rules, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        errors += _backend("spec.defaultBackend", backend)
    lenient = any("*" in rule.get("host", "") and _rule("", rule) for rule in old.get("rules") or ())
    for i, rule in enumerate(rules or ()):
        path = f"spec.rules[{i}]"
        errors += _host(f"{path}.host", rule.get("host", ""))
        if not (lenient and "*" in rule.get("host", "")):
            errors += _rule(path, rule)
    bad_secrets = any(_secret("", entry) for entry in old.get("tls") or ())
    for i, entry in enumerate(spec.get("tls") or ()):
        errors += _tls(f"spec.tls[{i}]", entry, check_secret=not bad_secrets)
    name = spec.get("ingressClassName")
    return errors if name is None else errors + dns_subdomain("spec.ingressClassName", name)


def _name_or_wildcard(path: str, host: str) -> Errors:
    return complain(path, host, names.wildcard_dns_subdomain(host) if "*" in host else names.dns_subdomain(host))


def _host(path: str, host: str) -> Errors:
    if not host:
        return []
    errors = [invalid(path, host, _NOT_AN_ADDRESS)] if formats.parse_ip(host) is not None else []
    return errors + _name_or_wildcard(path, host)


def _rule(path: str, rule: Spec) -> Errors:
    http = rule.get("http")
    if http is None:
        return []
    errors: Errors = [] if http.get("paths") else [required(f"{path}.http.paths")]
    for i, entry in enumerate(http.get("paths") or ()):
        errors += _path(f"{path}.http.paths[{i}]", entry)
    return errors


def _path(path: str, entry: Spec) -> Errors:
    kind, value = entry.get("pathType"), entry.get("path", "")
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    errors: Errors = []
    if kind not in _PATH_TYPES:
        errors.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    elif not value.startswith("/") and (value or kind != "ImplementationSpecific"):
        errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
    if kind in {"Exact", "Prefix"}:
        errors += [invalid(f"{path}.path", value, f"must not contain '{bad}'") for bad in _BAD_SEQUENCES if bad in value]
        errors += [invalid(f"{path}.path", value, f"cannot end with '{bad}'") for bad in _BAD_ENDS if value.endswith(bad)]
    return errors + _backend(f"{path}.backend", entry.get("backend") or {})


def _backend(path: str, backend: Spec) -> Errors:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _resource(f"{path}.resource", resource)
    if service is not None:
        return _service(path, service)
    return [invalid(path, "", "resource or service backend is required")]


def _resource(path: str, resource: Spec) -> Errors:
    group = resource.get("apiGroup")
    errors = [] if group is None else dns_subdomain(f"{path}.apiGroup", group)
    errors += required_segment(f"{path}.kind", resource.get("kind", ""))
    return errors + required_segment(f"{path}.name", resource.get("name", ""))


def _service(path: str, service: Spec) -> Errors:
    name, port = service.get("name", ""), service.get("port") or {}
    errors = dns_label(f"{path}.service.name", name) if name else [required(f"{path}.service.name")]
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        errors += complain(f"{path}.service.port.name", port["name"], names.port_name(port["name"]))
    elif port.get("number"):
        errors += complain(f"{path}.service.port.number", port["number"], names.port_number(port["number"]))
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def _tls(path: str, entry: Spec, *, check_secret: bool) -> Errors:
    errors: Errors = []
    for i, host in enumerate(entry.get("hosts") or ()):
        errors += _name_or_wildcard(f"{path}.hosts[{i}]", host)
    return errors + _secret(path, entry) if check_secret else errors


def _secret(path: str, entry: Spec) -> Errors:
    name = entry.get("secretName", "")
    return dns_subdomain(f"{path}.secretName", name) if name else []


def _validate_status(obj: Object, old: Object) -> Errors:
    errors: Errors = []
    known = {entry.get("ip") for entry in _ingress_of(old)}
    for i, entry in enumerate(_ingress_of(obj)):
        path, address, host = f"status.loadBalancer.ingress[{i}]", entry.get("ip", ""), entry.get("hostname", "")
        if address and address not in known:
            errors += complain(f"{path}.ip", address, formats.ip(address))
        if host:
            errors += dns_subdomain(f"{path}.hostname", host)
        if host and formats.parse_ip(host) is not None:
            errors.append(invalid(f"{path}.hostname", host, _NOT_AN_ADDRESS))
    return errors


def _ingress_of(obj: Object) -> list[Spec]:
    return ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


class IngressStatusStrategy(StatusStrategy):
    """The `status` endpoint."""

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        points = enumerate(_ingress_of(obj))
        return [text for i, point in points for text in ip_warnings(f"status.loadBalancer.ingress[{i}]", point.get("ip", ""))]


def ingress_status() -> StatusStrategy:
    """The `status` endpoint."""
    return IngressStatusStrategy(IngressStrategy(), validate_status=_validate_status)
