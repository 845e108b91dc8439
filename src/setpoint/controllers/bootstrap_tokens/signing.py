"""Signs `cluster-info` of kube-public with every bootstrap token that may sign.

Who holds a token can so trust the cluster's address and CA in it without having seen them before. The ConfigMap's `kubeconfig` is
somebody else's; the signatures stand beside it as `jws-kubeconfig-<id>`: detached JSON Web Signatures (RFC 7515, appendix F).
Source: Kubernetes `controller/bootstrap/bootstrapsigner.go`, `cluster-bootstrap/token/jws`.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.bootstrap_tokens import NAMESPACE, PREFIX, SIGNING, TYPE, expired, plain
from setpoint.api.machinery.resource import Resource
from setpoint.api.types.core_v1 import CONFIGMAPS, SECRETS, ConfigMap, Secret
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock

NAME = "bootstrap-signer"
PUBLIC, INFO, KUBECONFIG = "kube-public", "cluster-info", "kubeconfig"
SIGNATURE = "jws-kubeconfig-"
#: as JSON: what is written back is the whole object
_CONFIG_MAPS: Resource[Any] = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True, type=dict)


class Plan(Struct, frozen=True):
    """The signatures that `cluster-info` is to have, by key."""

    signatures: Mapping[str, str]


class Signatures:
    """There is one key, the ConfigMap's."""

    def __init__(self, client: ClientProtocol, clock: Clock, config_maps: Store[ConfigMap], secrets: Store[Secret]) -> None:
        self._client = client
        self._clock = clock
        self._config_maps = config_maps
        self._secrets = secrets

    def observe(self, name: str) -> ConfigMap | None:
        return self._config_maps.get(name)

    def diff(self, observed: ConfigMap) -> Plan | None:
        if KUBECONFIG not in observed.data:
            return None
        wanted = {
            f"{SIGNATURE}{token_id}": detached_signature(observed.data[KUBECONFIG], token_id, secret)
            for token_id, secret in self._tokens()
        }
        present = {name: value for name, value in observed.data.items() if name.startswith(SIGNATURE)}
        return Plan(wanted) if wanted != present else None

    def _tokens(self) -> list[tuple[str, str]]:
        """Id and secret of every token that may sign."""
        found = []
        for name in self._secrets:
            secret = self._secrets.get(name)
            data = plain(secret.data) if secret is not None else {}
            token_id, value = data.get("token-id", ""), data.get("token-secret", "")
            if not token_id or not value or name != key(NAMESPACE, f"{PREFIX}{token_id}"):
                continue
            if data.get(SIGNING) == "true" and not expired(data, self._clock.now()):
                found.append((token_id, value))
        return found

    async def act(self, plan: Plan) -> Result | None:
        held = await self._client.get(_CONFIG_MAPS, INFO, PUBLIC)
        others = {name: value for name, value in (held.get("data") or {}).items() if not name.startswith(SIGNATURE)}
        await self._client.update(_CONFIG_MAPS, {**held, "data": {**others, **plan.signatures}}, PUBLIC)
        return None


def detached_signature(content: str, token_id: str, secret: str) -> str:
    """The signature of a text by a token's secret (HS256), without the text."""
    header = _encoded(f'{{"alg":"HS256","kid":"{token_id}"}}'.encode())
    signed = f"{header}.{_encoded(content.encode())}".encode()
    return f"{header}..{_encoded(hmac.new(secret.encode(), signed, hashlib.sha256).digest())}"


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def new(context: Context) -> Controller[ConfigMap, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    secrets = context.informers.of(SECRETS, NAMESPACE, field_selector=f"type={TYPE}")
    config_maps = context.informers.of(CONFIGMAPS, PUBLIC, field_selector=f"metadata.name={INFO}")
    reconciler = Signatures(context.client, context.clock, config_maps.store, secrets.store)
    controller: Controller[ConfigMap, Plan] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(secrets, config_maps)
    )

    def changed(*_: Any) -> None:
        controller.enqueue(key(PUBLIC, INFO))

    secrets.on_change(changed)
    config_maps.on_change(changed)
    return controller
