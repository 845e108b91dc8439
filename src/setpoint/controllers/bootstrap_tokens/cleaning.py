"""Deletes bootstrap tokens whose time is over. Source: Kubernetes `controller/bootstrap/tokencleaner.go`."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.machinery.bootstrap_tokens import NAMESPACE, TYPE, expires, plain
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import SECRETS, Secret
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock

NAME = "token-cleaner"


class Plan(Struct, frozen=True):
    """Delete the Secret in `seconds` (0: now)."""

    name: str
    uid: str
    seconds: float


class TokenCleaner:
    """Keys are Secrets that hold bootstrap tokens."""

    secret = True

    def __init__(self, client: ClientProtocol, clock: Clock, secrets: Store[Secret]) -> None:
        self._client = client
        self._clock = clock
        self._secrets = secrets

    def observe(self, key: str) -> Secret | None:
        return self._secrets.get(key)

    def diff(self, observed: Secret) -> Plan | None:
        until = expires(plain(observed.data))
        if until is None:
            return None
        return Plan(observed.metadata.name, observed.metadata.uid, max(0.0, until - self._clock.now()))

    async def act(self, plan: Plan) -> Result | None:
        if plan.seconds > 0:
            return Result(requeue_after=plan.seconds)
        try:
            await self._client.delete(SECRETS, plan.name, NAMESPACE, uid=plan.uid)
        except StatusError as error:
            if error.code not in (404, 409):
                raise
        return None


def new(context: Context) -> Controller[Secret, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    secrets = context.informers.of(SECRETS, NAMESPACE, field_selector=f"type={TYPE}")
    reconciler = TokenCleaner(context.client, context.clock, secrets.store)
    controller: Controller[Secret, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(secrets,))

    controller.follow(secrets)
    return controller
