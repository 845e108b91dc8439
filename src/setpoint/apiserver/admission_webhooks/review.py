"""The conversation with one webhook: an AdmissionReview there and back.

Source: apiserver `pkg/admission/plugin/webhook/request/admissionreview.go`, `webhook/errors/statuserror.go`.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError, bad_request, go_value
from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.apiserver.webhooks import failures
from setpoint.apiserver.webhooks.failures import CallFailed, Unprepared
from setpoint.registry.admission.matching import Target

_GROUP, _KIND = "admission.k8s.io", "AdmissionReview"
#: bytes: twice what the largest object takes as base64
LIMIT = 8 * 1024 * 1024
_HARMLESS = ("None", "NoneOnDryRun")

#: sends a body to a webhook; gives that of the answer, and raises CallFailed
Call = Callable[[Hook, bytes], Awaitable[bytes]]


class HookFailed(Exception):
    """A webhook that could not be asked, or whose answer means nothing: its failure policy decides what that comes to."""

    def __init__(self, hook: Hook, why: str, code: int = 503) -> None:
        super().__init__(f'failed calling webhook "{hook.name}": {why}')
        self.code = code


class Denied(StatusError):
    """What a webhook refused."""


class Verdict(Struct, frozen=True):
    """What a webhook answered. `patch` is JSON text."""

    allowed: bool
    status: Mapping[str, Any] | None = None
    patch: bytes = b""
    patch_type: str = ""
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}


async def ask(call: Call, hook: Hook, subject: Subject, target: Target, *, mutating: bool) -> Verdict:
    """Ask a webhook. Raises HookFailed; StatusError 400 where a dry run may not ask it."""
    if subject.dry_run:
        _check_side_effects(hook)
    if not hook.review_version:
        why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise HookFailed(hook, f"could not create admission objects: {why}", 400)
    uid = str(uuid.uuid4())
    body = await _review(hook, subject, target, uid)
    try:
        answer = await call(hook, body)
        found = _decoded(answer)
    except Unprepared as error:
        raise HookFailed(hook, f"could not get REST client: {error}", error.code) from None
    except CallFailed as error:
        raise HookFailed(hook, f"failed to call webhook: {error}", error.code) from None
    try:
        return _verdict(found, uid, hook.review_version, mutating=mutating)
    except _Invalid as error:
        raise HookFailed(hook, f"received invalid webhook response: {error}") from None


def _check_side_effects(hook: Hook) -> None:
    if hook.side_effects is None:
        raise HookFailed(hook, "Webhook SideEffects is nil", 400)
    if hook.side_effects not in _HARMLESS:
        raise bad_request(f'admission webhook "{hook.name}" does not support dry run')


async def _review(hook: Hook, subject: Subject, target: Target, uid: str) -> bytes:
    seen = await subject.seen(target)
    request = {
        "uid": uid,
        **subject.as_request(target),
        "object": seen.obj,
        "oldObject": seen.old,
        "dryRun": subject.dry_run,
        "options": subject.options(),
    }
    return orjson.dumps({"kind": _KIND, "apiVersion": f"{_GROUP}/{hook.review_version}", "request": request})


class _Invalid(Exception):
    """An answer that is none to our question; says why."""


class _Response(Struct, rename="camel"):
    """AdmissionResponse; a field that is null is one that is not there."""

    uid: str | None = None
    allowed: bool | None = None
    status: dict[str, Any] | None = None
    patch: bytes | None = None
    patch_type: str | None = None
    audit_annotations: dict[str, str] | None = None
    warnings: tuple[str, ...] | None = None


class _Review(Struct, rename="camel"):
    """AdmissionReview, as it comes back."""

    kind: str | None = None
    api_version: str | None = None
    response: _Response | None = None


_decoder = msgspec.json.Decoder(_Review)


def _decoded(answer: bytes) -> _Review:
    """The answer, with fields of the types that they must have. Raises CallFailed."""
    if not answer:
        raise CallFailed("0-length response with status code: 200 and content type: application/json")
    try:
        review = _decoder.decode(answer)
    except msgspec.ValidationError as error:
        raise CallFailed(f"json: cannot unmarshal AdmissionReview: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallFailed(f"couldn't get version/kind; json parse error: {error}") from None
    if review.kind == "Status":
        raise CallFailed(failures.refusal(200, answer))
    return review


def _verdict(review: _Review, uid: str, version: str, *, mutating: bool) -> Verdict:
    response = review.response
    if response is None:
        raise _Invalid("webhook response was absent")
    patch, patch_type = response.patch or b"", response.patch_type
    if version == "v1":
        _check_identity(review, response.uid or "", uid)
        _check_patch(patch, patch_type, mutating=mutating)
    elif patch:
        patch_type = "JSONPatch"
    return Verdict(
        allowed=bool(response.allowed),
        status=response.status,
        patch=patch if mutating else b"",
        patch_type=patch_type or "",
        warnings=response.warnings or (),
        annotations=response.audit_annotations or {},
    )


def _check_identity(review: _Review, given: str, uid: str) -> None:
    if given != uid:
        raise _Invalid(f'expected response.uid="{uid}", got {go_value(given)}')
    api_version, kind = review.api_version or "", review.kind or ""
    wanted = f"{_GROUP}/v1"
    if (api_version, kind) != (wanted, _KIND):
        raise _Invalid(f"expected webhook response of {wanted}, Kind={_KIND}, got {api_version or '/'}, Kind={kind}")


def _check_patch(patch: bytes, patch_type: str | None, *, mutating: bool) -> None:
    if not mutating:
        if patch:
            raise _Invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _Invalid("validating webhook may not return response.patchType")
        return
    if patch and patch_type is None:
        raise _Invalid("webhook returned response.patch but not response.patchType")
    if not patch and patch_type is not None:
        raise _Invalid("webhook returned response.patchType but not response.patch")
    if patch_type is not None and not patch_type:
        raise _Invalid('webhook returned invalid response.patchType of ""')


def denial(hook: Hook, status: Mapping[str, Any] | None) -> Denied:
    """The refusal that a webhook asked for: its own Status, which is made a failure."""
    given = status or {}
    denied = f'admission webhook "{hook.name}" denied the request'
    reason, message = str(given.get("reason") or ""), str(given.get("message") or "")
    code = given.get("code") if isinstance(given.get("code"), int) else 0
    text = f"{denied}: {message or reason}" if message or reason else f"{denied} without explanation"
    details = given.get("details") if isinstance(given.get("details"), dict) else None
    return Denied(max(code or 0, 400), reason, text, details)


def note(subject: Subject, hook: Hook, verdict: Verdict) -> None:
    """Pass on what an answer has to say besides: warnings to the client, annotations to the audit log."""
    context = subject.request.context
    context.warnings += verdict.warnings
    for name, value in verdict.annotations.items():
        annotate(subject, f"{hook.name}/{name}", value)


def annotate(subject: Subject, name: str, value: str) -> None:
    """Add an annotation; one that is there already stays."""
    subject.request.context.annotations.setdefault(name, value)
