"""The ConfigMap that tells servers behind APIServices whom they may believe: the CA of clients, and that of the front proxy.

Source: Kubernetes `pkg/controlplane/controller/clusterauthenticationtrust`.
"""

from __future__ import annotations

import json
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol

NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
_CONFIG_MAPS: Resource[Any] = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True, type=dict)


async def ensure(client: ClientProtocol, *, client_ca: str, proxy_ca: str, proxy_name: str) -> None:
    """Make the ConfigMap, or bring it up to date; `…_ca` are PEM texts, `proxy_name` is our own certificate's."""
    data = {
        "client-ca-file": client_ca,
        "requestheader-allowed-names": json.dumps([proxy_name]),
        "requestheader-client-ca-file": proxy_ca,
        "requestheader-extra-headers-prefix": json.dumps(["X-Remote-Extra-"]),
        "requestheader-group-headers": json.dumps(["X-Remote-Group"]),
        "requestheader-uid-headers": json.dumps(["X-Remote-Uid"]),
        "requestheader-username-headers": json.dumps(["X-Remote-User"]),
    }
    try:
        held = await client.get(_CONFIG_MAPS, NAME, NAMESPACE)
    except StatusError as error:
        if error.code != 404:
            raise
        await client.create(_CONFIG_MAPS, {"metadata": {"name": NAME}, "data": data}, NAMESPACE)
        return
    if any((held.get("data") or {}).get(key) != value for key, value in data.items()):
        await client.patch(_CONFIG_MAPS, NAME, {"data": data}, NAMESPACE)
