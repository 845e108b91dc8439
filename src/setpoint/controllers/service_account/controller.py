"""A `default` ServiceAccount in every active namespace, made again when it is deleted."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NAMESPACES, SERVICEACCOUNTS, Namespace, ServiceAccount
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.refusals import is_namespace_terminating

NAME = "serviceaccount-controller"
DEFAULT = "default"


class Observed(Struct, frozen=True):
    """A namespace, and whether its default account is there."""

    namespace: Namespace
    present: bool


class ServiceAccountReconciler:
    """Keys are namespaces; the plan is the namespace that needs an account."""

    def __init__(self, client: ClientProtocol, namespaces: Store[Namespace], accounts: Store[ServiceAccount]) -> None:
        self._client = client
        self._namespaces = namespaces
        self._accounts = accounts

    def observe(self, name: str) -> Observed | None:
        namespace = self._namespaces.get(name)
        return None if namespace is None else Observed(namespace, key(name, DEFAULT) in self._accounts)

    def diff(self, observed: Observed) -> str | None:
        if observed.present or observed.namespace.status.phase != "Active":
            return None
        return observed.namespace.metadata.name

    async def act(self, plan: str) -> Result | None:
        try:
            await self._client.create(SERVICEACCOUNTS, {"metadata": {"name": DEFAULT, "namespace": plan}}, plan)
        except StatusError as error:
            if error.reason != "AlreadyExists" and not is_namespace_terminating(error):
                raise
        return None


def new(context: Context) -> Controller[Observed, str]:
    """The controller, its handlers registered; nothing runs yet."""
    namespaces = context.informers.of(NAMESPACES)
    accounts = context.informers.of(SERVICEACCOUNTS, field_selector=f"metadata.name={DEFAULT}")
    reconciler = ServiceAccountReconciler(context.client, namespaces.store, accounts.store)
    controller: Controller[Observed, str] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(namespaces, accounts)
    )

    def account_changed(_: str, old: ServiceAccount | None, changed: ServiceAccount | None) -> None:
        if changed is None and old is not None:
            controller.enqueue(old.metadata.namespace)

    controller.follow(namespaces)
    accounts.on_change(account_changed)
    return controller
