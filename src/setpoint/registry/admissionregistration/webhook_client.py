"""Where a webhook is: a URL, or a Service of the cluster. Admission and conversion webhooks have the same rules.

Source: apiserver `pkg/util/webhook/validation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import invalid, required
from setpoint.registry.admissionregistration import go_url
from setpoint.registry.fields import Errors
from setpoint.registry.spec_status import fill
from setpoint.registry.strategy import Object

#: the versions of reviews that this server can send
REVIEW_VERSIONS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"


def default_client(config: Object | None) -> None:
    service = (config or {}).get("service")
    if service is not None:
        fill(service, "port", 443)


def validate_client(path: str, config: Mapping[str, Any]) -> Errors:
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    return _url(f"{path}.url", url) if url is not None else _service(f"{path}.service", service or {})


def _url(path: str, url: str) -> Errors:
    try:
        found = go_url.parse(url)
    except go_url.Malformed as error:
        return [required(path, f"url must be a valid URL: {error}{_FORM}")]
    errors: Errors = []
    if found.scheme != "https":
        errors.append(invalid(path, found.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    if not found.host:
        errors.append(invalid(path, found.host, f"host must be specified{_FORM}"))
    if found.user is not None:
        errors.append(invalid(path, found.user, "user information is not permitted in the URL"))
    if found.fragment:
        errors.append(invalid(path, found.fragment, "fragments are not permitted in the URL"))
    if found.query:
        errors.append(invalid(path, found.query, "query parameters are not permitted in the URL"))
    return errors


def _service(path: str, service: Mapping[str, Any]) -> Errors:
    """Kubernetes passes name and namespace in the wrong order, so it complains of the one when the other is missing."""
    errors: Errors = [] if service.get("namespace") else [required(f"{path}.name")]
    errors += [] if service.get("name") else [required(f"{path}.namespace")]
    port = service.get("port", 0)
    if messages := names.port_number(port):
        errors.append(invalid(f"{path}.port", port, f"port is not valid: {', '.join(messages)}"))
    return errors + _path(f"{path}.path", service.get("path") or "")


def _path(path: str, value: str) -> Errors:
    if value in {"", "/"}:
        return []
    if value == "//":
        return [invalid(path, value, "segment[0] may not be empty")]
    errors: Errors = [] if value.startswith("/") else [invalid(path, value, "must start with a '/'")]
    for i, segment in enumerate(value[1:].removesuffix("/").split("/")):
        if not segment:
            errors.append(invalid(path, value, f"segment[{i}] may not be empty"))
            continue
        errors += [invalid(path, value, f"segment[{i}]: {text}") for text in names.dns_subdomain(segment)]
    return errors


def validate_review_versions(path: str, versions: Sequence[str], *, when_absent: str, known_version: bool = True) -> Errors:
    """The versions that a webhook understands, one of which we must know."""
    if not versions:
        return [required(path, when_absent)]
    errors: Errors = []
    for i, version in enumerate(versions):
        if version in versions[:i]:
            errors.append(invalid(f"{path}[{i}]", version, "duplicate version"))
            continue
        errors += [invalid(f"{path}[{i}]", version, text) for text in names.dns1035_label(version)]
    if known_version and not any(version in REVIEW_VERSIONS for version in versions):
        errors.append(invalid(path, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}"))
    return errors
