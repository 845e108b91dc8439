"""CertificateSigningRequests: the main endpoint, approval and status.

Who asks is what authentication found, whatever the body says. Source: `pkg/registry/certificates/certificates`,
`pkg/apis/certificates/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, go_value, invalid, not_supported, required, too_long
from setpoint.kit.clock import rfc3339
from setpoint.registry.certificates.conditions import VERDICTS, Leniency, count_of, of_type, validate_conditions
from setpoint.registry.certificates.pem import certificate_complaints, request_complaints
from setpoint.registry.fields import Errors
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

_USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_SHORTEST = 600  # seconds
_LONGEST_SIGNER = 253 + 1 + 253 + 1 + 63  # a domain, a slash, and what may stand beside a label
_IDENTITY = ("username", "uid", "groups", "extra")


class SigningRequestStrategy(SpecStatusStrategy):
    """The main endpoint: after creation only metadata changes."""

    reset_fields: tuple[tuple[str, ...], ...] = (("spec",), ("status",))
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"spec.signerName"})

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        spec, user = obj.setdefault("spec", {}), context.user
        for field in _IDENTITY:
            spec.pop(field, None)
        spec["username"] = user.name
        if user.uid:
            spec["uid"] = user.uid
        if user.groups:
            spec["groups"] = list(user.groups)
        if user.extra:
            spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        obj["status"] = {}

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        obj["spec"], obj["status"] = old.get("spec") or {}, old.get("status") or {}

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.path_segment(name)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate(obj, Leniency())

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_change(obj, old, verdicts=False, certificate=False)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"spec.signerName": (obj.get("spec") or {}).get("signerName", "")}


def _validate(obj: Object, leniency: Leniency) -> Errors:
    spec = obj.get("spec") or {}
    request, usages = spec.get("request"), spec.get("usages") or []
    errors = [invalid("spec.request", request, text) for text in request_complaints(request or "")]
    errors += [] if usages else [required("spec.usages")]
    errors += [
        not_supported(f"spec.usages[{i}]", usage, _USAGES)
        for i, usage in enumerate(usages)
        if usage not in _USAGES and not leniency.unknown_usages
    ]
    errors += [
        duplicate(f"spec.usages[{i}]", usage)
        for i, usage in enumerate(usages)
        if usage in usages[:i] and not leniency.repeated_usages
    ]
    errors += _signer("spec.signerName", spec.get("signerName", ""), leniency)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, why))
    errors += validate_conditions("status.conditions", obj, leniency)
    certificate = (obj.get("status") or {}).get("certificate")
    if certificate and not leniency.any_certificate:
        errors += [invalid("status.certificate", "<certificate data>", text) for text in certificate_complaints(certificate)]
    return errors


def _signer(path: str, name: str, leniency: Leniency) -> Errors:
    if name == _LEGACY_SIGNER:
        why = "the legacy signerName is not allowed via this API version"
        return [] if leniency.legacy_signer else [invalid(path, name, why)]
    if not name:
        return [required(path)]
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
    errors: Errors = [too_long(path, 253)] if len(domain) > 253 else []
    labels = domain.split(".")
    errors += _first_bad_label(path, domain, labels, names.dns_label)
    if len(labels) < 2:
        errors.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    errors += _first_bad_label(path, rest, rest.split("."), names.dns_subdomain)
    return [*errors, too_long(path, _LONGEST_SIGNER)] if len(name) > _LONGEST_SIGNER else errors


def _first_bad_label(path: str, part: str, labels: Iterable[str], check: Callable[[str], list[str]]) -> Errors:
    """More than one bad label would be told in nearly the same words."""
    for label in labels:
        if complaints := check(label):
            return [invalid(path, part, f"validating label {go_value(label)}: {text}") for text in complaints]
    return []


def _leniency(old: Object) -> Leniency:
    """What an old object has wrong it may keep."""
    spec, status = old.get("spec") or {}, old.get("status") or {}
    usages, conditions = spec.get("usages") or [], status.get("conditions") or ()
    kinds = [condition.get("type", "") for condition in conditions]
    return Leniency(
        unknown_usages=any(usage not in _USAGES for usage in usages),
        repeated_usages=len(set(usages)) != len(usages),
        legacy_signer=spec.get("signerName") == _LEGACY_SIGNER,
        both_verdicts=set(VERDICTS) <= set(kinds),
        repeated_conditions=len(set(kinds)) != len(kinds),
        nameless_conditions="" in kinds,
        any_certificate=bool(status.get("certificate") and certificate_complaints(status["certificate"])),
    )


def _validate_change(obj: Object, old: Object, *, verdicts: bool, certificate: bool) -> Errors:
    errors, path = _validate(obj, _leniency(old)), "status.conditions"
    for kind in (*VERDICTS, "Failed"):
        if count_of(obj, kind) < count_of(old, kind):
            errors.append(forbidden(path, f'updates may not remove a condition of type "{kind}"'))
    for kind in VERDICTS if not verdicts else ():
        if count_of(obj, kind) > count_of(old, kind):
            errors.append(forbidden(path, f'updates may not add a condition of type "{kind}"'))
        elif count_of(obj, kind) == count_of(old, kind) and of_type(obj, kind) != of_type(old, kind):
            errors.append(forbidden(path, f'updates may not modify a condition of type "{kind}"'))
    return errors + _certificate_change(obj, old, allowed=certificate)


def _certificate_change(obj: Object, old: Object, *, allowed: bool) -> Errors:
    new, before = ((one.get("status") or {}).get("certificate") or "" for one in (obj, old))
    if new == before:
        return []
    if not allowed:
        return [forbidden("status.certificate", "updates may not set certificate content")]
    return [forbidden("status.certificate", "updates may not modify existing certificate content")] if before else []


def _stamp(context: Context, obj: Object, old: Object) -> None:
    """When conditions were set and when they last changed, where the writer does not say."""
    now = rfc3339(context.now)
    before = (old.get("status") or {}).get("conditions") or ()
    for condition in (obj.get("status") or {}).get("conditions") or ():
        condition["lastUpdateTime"] = condition.get("lastUpdateTime") or now
        if not condition.get("lastTransitionTime"):
            same = (one for one in before if one["type"] == condition.get("type") and one["status"] == condition.get("status"))
            condition["lastTransitionTime"] = next((one.get("lastTransitionTime") for one in same), None) or now


class SigningRequestApprovalStrategy(StatusStrategy):
    """`approval`: conditions only."""

    def __init__(self) -> None:
        super().__init__(SigningRequestStrategy())
        self.reset_fields = (("spec",), ("status", "certificate"))

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        status = {**(old.get("status") or {}), "conditions": (obj.get("status") or {}).get("conditions")}
        obj["status"] = status if status["conditions"] else {key: value for key, value in status.items() if key != "conditions"}
        _stamp(context, obj, old)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_change(obj, old, verdicts=True, certificate=False)


class SigningRequestStatusStrategy(StatusStrategy):
    """`status`: the certificate, once, and conditions that are no verdict."""

    def __init__(self) -> None:
        super().__init__(SigningRequestStrategy())

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        status: dict[str, Any] = obj.setdefault("status", {})
        for kind in VERDICTS:
            if count_of(obj, kind) == count_of(old, kind) > 0:
                kept = iter(of_type(old, kind))
                status["conditions"] = [next(kept) if one.get("type") == kind else one for one in status["conditions"]]
        _stamp(context, obj, old)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_change(obj, old, verdicts=False, certificate=True)
