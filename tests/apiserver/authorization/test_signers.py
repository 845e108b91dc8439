"""The rights on signers that approving, signing and attesting need."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.decision import Decision
from setpoint.apiserver.authorization.signers import signer_steps
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Context
from setpoint.registry.table import RESOURCES

_REQUESTS = next(each for each in RESOURCES if each.plural == "certificatesigningrequests")
_OLD = {"metadata": {"name": "r"}, "spec": {"signerName": "example.com/one"}}


class Rights:
    """A door that allows a verb on some signers."""

    def __init__(self, verb: str, *signers: str) -> None:
        self._allowed = {(verb, signer) for signer in signers}

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        assert (info.group, info.resource) == ("certificates.k8s.io", "signers")
        return Decision((info.verb, info.name) in self._allowed or None)


async def _ask(name: str, rights: Rights, subresource: str, obj: dict[str, Any]) -> None:
    context = Context(UserInfo("u"), now=0.0)
    request = AdmissionRequest("UPDATE", _REQUESTS, "v1", context, name="r", subresource=subresource, obj=obj, old=_OLD)
    await signer_steps(rights)[name].validate(request)


@pytest.mark.parametrize("held", ["example.com/one", "example.com/*"])
async def test_who_has_the_right_may(held: str) -> None:
    await _ask("CertificateApproval", Rights("approve", held), "approval", _OLD)
    await _ask("CertificateSigning", Rights("sign", held), "status", {**_OLD, "status": {"certificate": "x"}})


async def test_who_has_it_not_may_not() -> None:
    other = Rights("approve", "example.com/two", "other.com/*")
    with pytest.raises(StatusError, match=r'user not permitted to approve requests with signerName "example\.com/one"'):
        await _ask("CertificateApproval", other, "approval", _OLD)
    with pytest.raises(StatusError, match=r'user not permitted to sign requests with signerName "example\.com/one"'):
        await _ask("CertificateSigning", other, "status", {**_OLD, "status": {"certificate": "x"}})


async def test_a_status_that_signs_nothing_needs_none() -> None:
    await _ask("CertificateSigning", Rights("sign"), "status", {**_OLD, "metadata": {"name": "r", "labels": {"a": "b"}}})
