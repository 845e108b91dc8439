"""`token` of a service account: asks the injected issuer for a token (TokenRequest)."""

from __future__ import annotations

from typing import Protocol

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object

_DEFAULT_SECONDS = 3600
_VERSION = "authentication.k8s.io/v1"
_DEFINITION = "io.k8s.api.authentication.v1.TokenRequest"


class Issuer(Protocol):
    """Fills `status` of a TokenRequest for a service account; raises StatusError 422 for one that asks for too much."""

    def check_name(self, metadata: Object, namespace: str, name: str) -> None:
        """Raises StatusError where a request's metadata names another account than its path."""

    async def issue(self, account: Object, request: Object, *, dry_run: bool) -> Object: ...


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.METADATA_FORMS)
    options = write_options(call.request, "CreateOptions")
    media = body_type(call.request)
    request, warnings = call.bodies.decode_as(call.request.body, media, _DEFINITION, "TokenRequest", _VERSION, options.validation)
    call.warnings += warnings
    issuer = call.pipeline.issuer
    if issuer is None:
        raise StatusError(501, "", "this server issues no tokens")
    spec = request.setdefault("spec", {})
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = _DEFAULT_SECONDS
    ownership.of_body(call, request, call.bodies.definition(_DEFINITION), _VERSION, manager_of(options, call.request))
    asked = call.store.request(call.context("CREATE", options), "CREATE", request, None)
    await call.store.admission.admit(asked)
    issuer.check_name(request.get("metadata") or {}, call.info.namespace, call.info.name)
    account = call.store.codec.decode(await call.store.get(call.info.namespace, call.info.name))
    await call.store.admission.validate(asked)
    issued = await issuer.issue(account, request, dry_run=options.dry_run)
    return answers.made_answer(call, issued, "authentication.TokenRequest", 201)
