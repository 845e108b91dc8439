"""Wiring: every change of a request puts it into the queue."""

from __future__ import annotations

from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS, CertificateSigningRequest
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller
from setpoint.client.factory import InformerFactory
from setpoint.client.objects import key_of
from setpoint.controllers.certificates.reconciler import CertificateReconciler, Plan, Signer
from setpoint.kit.clock import Clock

NAME = "csrsigning"


def new(
    client: ClientProtocol, clock: Clock, informers: InformerFactory, signer: Signer
) -> Controller[CertificateSigningRequest, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    requests = informers.of(CERTIFICATESIGNINGREQUESTS)
    reconciler = CertificateReconciler(client, clock, requests.store, signer)
    controller: Controller[CertificateSigningRequest, Plan] = Controller(
        NAME, reconciler, clock, workers=1, informers=(requests,)
    )

    def changed(_kind: str, _old: CertificateSigningRequest | None, new: CertificateSigningRequest | None) -> None:
        if new is not None:
            controller.enqueue(key_of(new))

    requests.on_change(changed)
    return controller
