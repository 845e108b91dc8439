"""The ConfigMap `kube-root-ca.crt` in every active namespace, with the cluster's CA and nothing else in it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import CONFIGMAPS, NAMESPACES, ConfigMap, Namespace
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.refusals import is_namespace_terminating

NAME = "root-ca-certificate-publisher"
CONFIGMAP = "kube-root-ca.crt"
FILE = "ca.crt"
ANNOTATION = "kubernetes.io/description"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal "
    "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)


class Observed(Struct, frozen=True):
    """A namespace and its ConfigMap."""

    namespace: Namespace
    config_map: ConfigMap | None


class Plan(Struct, frozen=True):
    """Create (`patch` is None) or patch the ConfigMap of `namespace`."""

    namespace: str
    patch: dict[str, Any] | None = None


class RootCaReconciler:
    """Keys are namespaces; `ca` is PEM text."""

    def __init__(self, client: ClientProtocol, namespaces: Store[Namespace], config_maps: Store[ConfigMap], ca: str) -> None:
        self._client = client
        self._namespaces = namespaces
        self._config_maps = config_maps
        self._ca = ca

    def observe(self, name: str) -> Observed | None:
        namespace = self._namespaces.get(name)
        return None if namespace is None else Observed(namespace, self._config_maps.get(key(name, CONFIGMAP)))

    def diff(self, observed: Observed) -> Plan | None:
        name = observed.namespace.metadata.name
        if observed.namespace.status.phase != "Active":
            return None
        if observed.config_map is None:
            return Plan(name)
        data = observed.config_map.data
        if dict(data) == {FILE: self._ca} and (observed.config_map.metadata.annotations or {}).get(ANNOTATION):
            return None  # whatever description somebody gave it
        wanted = {**dict.fromkeys(data), FILE: self._ca}
        return Plan(name, {"metadata": {"annotations": {ANNOTATION: DESCRIPTION}}, "data": wanted})

    async def act(self, plan: Plan) -> Result | None:
        try:
            if plan.patch is None:
                meta = {"name": CONFIGMAP, "annotations": {ANNOTATION: DESCRIPTION}}
                await self._client.create(CONFIGMAPS, {"metadata": meta, "data": {FILE: self._ca}}, plan.namespace)
            else:
                await self._client.patch(CONFIGMAPS, CONFIGMAP, plan.patch, plan.namespace)
        except StatusError as error:
            if error.reason != "AlreadyExists" and not is_namespace_terminating(error):
                raise
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    namespaces = context.informers.of(NAMESPACES)
    config_maps = context.informers.of(CONFIGMAPS, field_selector=f"metadata.name={CONFIGMAP}")
    reconciler = RootCaReconciler(context.client, namespaces.store, config_maps.store, context.settings.cluster_ca)
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, context.clock, workers=1, informers=(namespaces, config_maps)
    )

    def config_map_changed(_: str, old: ConfigMap | None, changed: ConfigMap | None) -> None:
        touched = changed if changed is not None else old
        if touched is not None:
            controller.enqueue(touched.metadata.namespace)

    controller.follow(namespaces)
    config_maps.on_change(config_map_changed)
    return controller
