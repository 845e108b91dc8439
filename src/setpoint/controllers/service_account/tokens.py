"""Fills Secrets of type `kubernetes.io/service-account-token`, and takes away those whose account is gone.

Source: Kubernetes `pkg/controller/serviceaccount/tokens_controller.go`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import SECRETS, SERVICEACCOUNTS, Secret, ServiceAccount
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.informer import any_of
from setpoint.client.objects import key, key_of
from setpoint.client.store import Store
from setpoint.client.transport import TransportError
from setpoint.controllers.component import Context

NAME = "tokens-controller"
TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME, ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
#: namespace, name and uid of an account, and the Secret's name → the token
Sign = Callable[[str, str, str, str], str]
_SECRETS: Resource[Any] = Resource("", "v1", "secrets", "Secret", namespaced=True, type=dict)
_ACCOUNTS: Resource[Any] = Resource("", "v1", "serviceaccounts", "ServiceAccount", namespaced=True, type=dict)


class Observed(Struct, frozen=True):
    """A Secret and the account that it names; None where there is none, or another of the same name.

    `gone`: the Secret is no more.
    """

    secret: Secret
    account: ServiceAccount | None
    gone: bool = False


class Plan(Struct, frozen=True):
    """Fill the Secret for the account, or delete it where there is none; `gone`: have the account name it no more."""

    secret: Secret
    account: ServiceAccount | None
    gone: bool = False


class TokenReconciler:
    """Keys are Secrets."""

    secret = True

    def __init__(
        self, client: ClientProtocol, secrets: Store[Secret], accounts: Store[ServiceAccount], sign: Sign, ca: str
    ) -> None:
        self._client = client
        self._secrets = secrets
        self._accounts = accounts
        self._sign = sign
        self._ca = b64encode(ca.encode()).decode()
        self._gone: dict[str, Secret] = {}

    def deleted(self, secret: Secret) -> None:
        """Its account is looked at when its key comes up."""
        self._gone[key_of(secret)] = secret

    def observe(self, name: str) -> Observed | None:
        gone, secret = self._gone.pop(name, None), self._secrets.get(name)
        if secret is None and gone is not None:
            account = self._accounts.get(key(gone.metadata.namespace, _account_name(gone)))
            return Observed(gone, account if _is_meant(gone, account) else None, gone=True)
        if secret is None or secret.type != TYPE:
            return None
        account = self._accounts.get(key(secret.metadata.namespace, _account_name(secret)))
        return Observed(secret, account if _is_meant(secret, account) else None)

    def diff(self, observed: Observed) -> Plan | None:
        secret, account = observed.secret, observed.account
        if observed.gone:
            return Plan(secret, account, gone=True) if account is not None and _is_named(secret, account) else None
        if account is not None and not self._lacks(secret, account):
            return None
        return Plan(secret, account)

    def _lacks(self, secret: Secret, account: ServiceAccount) -> bool:
        data, annotations = secret.data, secret.metadata.annotations or {}
        filled = data.get("token") and data.get("namespace") and data.get("ca.crt", "") == self._ca
        return not filled or annotations.get(ACCOUNT_UID) != account.metadata.uid

    async def act(self, plan: Plan) -> Result | None:
        metadata = plan.secret.metadata
        try:
            if plan.gone:
                await self._unname(plan.secret)
                return None
            account = plan.account or await self._live(plan.secret)
            if account is None:
                await self._client.delete(SECRETS, metadata.name, metadata.namespace, uid=metadata.uid)
            else:
                await self._fill(plan.secret, account)
        except (StatusError, TransportError) as error:
            if isinstance(error, TransportError) or error.code != 404:
                if plan.gone:
                    self.deleted(plan.secret)  # for the next attempt
                raise
        return None

    async def _unname(self, secret: Secret) -> None:
        """Of the account as it is now."""
        name, namespace = secret.metadata.name, secret.metadata.namespace
        held: dict[str, Any] = await self._client.get(_ACCOUNTS, _account_name(secret), namespace)
        uid = (secret.metadata.annotations or {}).get(ACCOUNT_UID, "")
        if uid in ("", held["metadata"]["uid"]):
            left = [each for each in held.get("secrets") or () if each.get("name") != name]
            await self._client.update(_ACCOUNTS, {**held, "secrets": left}, namespace)

    async def _live(self, secret: Secret) -> ServiceAccount | None:
        """The account as it is now: a Secret is not taken away on a cache's word."""
        try:
            account = await self._client.get(SERVICEACCOUNTS, _account_name(secret), secret.metadata.namespace)
        except StatusError as error:
            if error.code != 404:
                raise
            return None
        return account if _is_meant(secret, account) else None

    async def _fill(self, secret: Secret, account: ServiceAccount) -> None:
        name, namespace = secret.metadata.name, secret.metadata.namespace
        held: dict[str, Any] = await self._client.get(_SECRETS, name, namespace)
        if held["metadata"]["uid"] != secret.metadata.uid:
            return
        data = {**(held.get("data") or {})}
        if not data.get("token"):
            token = self._sign(namespace, account.metadata.name, account.metadata.uid, name)
            data["token"] = b64encode(token.encode()).decode()
        if not data.get("namespace"):
            data["namespace"] = b64encode(namespace.encode()).decode()
        if self._ca:
            data["ca.crt"] = self._ca
        metadata = held["metadata"]
        annotations = {**(metadata.get("annotations") or {}), ACCOUNT_UID: account.metadata.uid}
        await self._client.update(
            _SECRETS, {**held, "metadata": {**metadata, "annotations": annotations}, "data": data}, namespace
        )


def _account_name(secret: Secret) -> str:
    return (secret.metadata.annotations or {}).get(ACCOUNT_NAME, "")


def _is_named(secret: Secret, account: ServiceAccount) -> bool:
    return any(each.name == secret.metadata.name for each in account.secrets)


def _is_meant(secret: Secret, account: ServiceAccount | None) -> bool:
    """Whether this is the account that a Secret names, and not a later one of the same name."""
    uid = (secret.metadata.annotations or {}).get(ACCOUNT_UID, "")
    return account is not None and uid in ("", account.metadata.uid)


def new(context: Context) -> Controller[Observed, Plan] | None:
    """The controller, its handlers registered; None where nobody signs tokens."""
    sign = context.settings.token_signer
    if sign is None:
        return None
    secrets = context.informers.of(SECRETS, field_selector=f"type={TYPE}")
    accounts = context.informers.of(SERVICEACCOUNTS)
    reconciler = TokenReconciler(context.client, secrets.store, accounts.store, sign, context.settings.cluster_ca)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(secrets, accounts))

    def account_changed(_: str, old: ServiceAccount | None, account: ServiceAccount | None) -> None:
        which = account if old is None else old if account is None else None
        if which is not None:
            for name in secrets.store:
                secret = secrets.store.get(name)
                if secret is not None and key(secret.metadata.namespace, _account_name(secret)) == key_of(which):
                    controller.enqueue(name)

    def secret_changed(_: str, old: Secret | None, secret: Secret | None) -> None:
        if secret is None and old is not None:
            reconciler.deleted(old)
        controller.enqueue(key_of(any_of(old, secret)))

    secrets.on_change(secret_changed)
    accounts.on_change(account_changed)
    return controller
