"""Clears requests away: an hour after they were answered, a day after nobody did, and when their certificate has ended.

Source: Kubernetes `controller/certificates/cleaner/cleaner.go`, which looks at all of them every hour. Here each has its time:
the first of those hours at which it is to go.
"""

from __future__ import annotations

import base64
from math import ceil

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS, CertificateSigningRequest
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.certificates.requests import Signer
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock, parse_rfc3339

NAME = "csrcleaner"
_ANSWERED, _PENDING = 3600.0, 24 * 3600.0
_ROUND = 3600.0


class Plan(Struct, frozen=True):
    """Delete the request in `seconds` (0: now)."""

    name: str
    uid: str
    seconds: float


class CleaningReconciler:
    """Keys are requests."""

    def __init__(
        self, client: ClientProtocol, clock: Clock, requests: Store[CertificateSigningRequest], signer: Signer | None
    ) -> None:
        self._client = client
        self._clock = clock
        self._requests = requests
        self._signer = signer
        self._start = clock.now()

    def observe(self, key: str) -> CertificateSigningRequest | None:
        return self._requests.get(key)

    def diff(self, observed: CertificateSigningRequest) -> Plan:
        due = max(self._until(observed), _time(observed.metadata.creation_timestamp))
        round_ = self._start + ceil((due - self._start) / _ROUND) * _ROUND
        return Plan(observed.metadata.name, observed.metadata.uid, max(0.0, round_ - self._clock.now()))

    def _until(self, request: CertificateSigningRequest) -> float:
        """The moment at which a request is to go."""
        conditions = request.status.conditions
        if not conditions:
            return _time(request.metadata.creation_timestamp) + _PENDING
        times = [_time(each.last_update_time or request.metadata.creation_timestamp) for each in conditions]
        until = min(times) + _ANSWERED
        if request.status.certificate and self._signer is not None:
            try:
                return min(until, self._signer.expires(base64.b64decode(request.status.certificate)))
            except ValueError:
                return until
        return until

    async def act(self, plan: Plan) -> Result | None:
        if plan.seconds > 0:
            return Result(requeue_after=plan.seconds)
        try:
            await self._client.delete(CERTIFICATESIGNINGREQUESTS, plan.name, uid=plan.uid)
        except StatusError as error:
            if error.code not in (404, 409):
                raise
        return None


def _time(text: str | None) -> float:
    return parse_rfc3339(text) if text else 0.0


def new(context: Context) -> Controller[CertificateSigningRequest, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    requests = context.informers.of(CERTIFICATESIGNINGREQUESTS)
    reconciler = CleaningReconciler(context.client, context.clock, requests.store, context.settings.signer)
    controller: Controller[CertificateSigningRequest, Plan] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(requests,)
    )

    controller.follow(requests)
    return controller
