"""How objects of one version become objects of another.

Source: apiextensions-apiserver `pkg/apis/apiextensions/validation`. Complaints name the fields of the internal type, which has
no `webhook` around them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.admissionregistration.webhook_client import validate_client, validate_review_versions
from setpoint.registry.fields import Errors, one_of

_STRATEGIES = ("None", "Webhook")
_NOT_WEBHOOK = "should not be set when strategy is not set to Webhook"


def validate_conversion(path: str, conversion: Mapping[str, Any] | None, *, good_bundle: bool = False) -> Errors:
    """`good_bundle`: certificates are looked at, too, as they are once a definition is established."""
    if conversion is None:
        return []
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    errors = one_of(f"{path}.strategy", strategy, _STRATEGIES) if strategy else [required(f"{path}.strategy")]
    client_path, versions_path = f"{path}.webhookClientConfig", f"{path}.conversionReviewVersions"
    if strategy != "Webhook":
        errors += [] if client is None else [forbidden(client_path, _NOT_WEBHOOK)]
        return [*errors, forbidden(versions_path, _NOT_WEBHOOK)] if versions else errors
    if client is None:
        errors.append(required(client_path, "required when strategy is set to Webhook"))
    else:
        errors += validate_client(client_path, client)
        errors += _bundle(f"{client_path}.caBundle", client) if good_bundle else []
    return errors + validate_review_versions(versions_path, versions, when_absent="")


def has_good_bundle(conversion: Mapping[str, Any] | None) -> bool:
    """Whether the certificates of a webhook can be read; so can none."""
    client = ((conversion or {}).get("webhook") or {}).get("clientConfig") or {}
    return not _bundle("caBundle", client)


def _bundle(path: str, client: Mapping[str, Any]) -> Errors:
    bundle = client.get("caBundle")
    if not bundle or _is_readable(base64.b64decode(bundle)):
        return []
    return [invalid(path, bundle, "unable to load root certificates: unable to parse bytes as PEM block")]


def _is_readable(pem: bytes) -> bool:
    from cryptography import x509

    try:
        return bool(x509.load_pem_x509_certificates(pem))
    except ValueError:
        return False
