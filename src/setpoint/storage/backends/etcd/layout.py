"""Where in etcd an object lies: exactly where Kubernetes' API server puts it, so that its tools and habits hold.

    pods/default/web                           /registry/pods/default/web
    deployments.apps/default/web               /registry/deployments/default/web        built-in kinds: without their group
    nodes/n1                                   /registry/minions/n1                     names of old
    services/default/web                       /registry/services/specs/default/web
    widgets.example.com/default/w              /registry/example.com/widgets/default/w  custom kinds: by group
    customresourcedefinitions.apiextensions.k8s.io/x  /registry/apiextensions.k8s.io/customresourcedefinitions/x

What Setpoint keeps for itself lies under `/registry/setpoint/`; nothing of it is an object.
Source: apiserver `pkg/server/storage/storage_factory.go`, kube-apiserver's `DefaultStorageFactory` overrides.
"""

from __future__ import annotations

_GROUPS = {
    "admissionregistration.k8s.io": (
        "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies "
        "validatingadmissionpolicybindings validatingwebhookconfigurations"
    ),
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "autoscaling": "horizontalpodautoscalers",
    "batch": "cronjobs jobs",
    "certificates.k8s.io": "certificatesigningrequests clustertrustbundles podcertificaterequests",
    "coordination.k8s.io": "leases leasecandidates",
    "discovery.k8s.io": "endpointslices",
    "flowcontrol.apiserver.k8s.io": "flowschemas prioritylevelconfigurations",
    "internal.apiserver.k8s.io": "storageversions",
    "networking.k8s.io": "ingressclasses ingresses ipaddresses networkpolicies servicecidrs",
    "node.k8s.io": "runtimeclasses",
    "policy": "poddisruptionbudgets",
    "rbac.authorization.k8s.io": "clusterrolebindings clusterroles rolebindings roles",
    "resource.k8s.io": "deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourceslices",
    "scheduling.k8s.io": "priorityclasses",
    "storage.k8s.io": "csidrivers csinodes csistoragecapacities storageclasses volumeattachments volumeattributesclasses",
    "storagemigration.k8s.io": "storageversionmigrations",
}
_NAMES = {
    "endpoints": "services/endpoints",
    "ingresses.networking.k8s.io": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
#: collection → place, for what is not where the general rule would put it
_PLACES = {f"{plural}.{group}": plural for group, plurals in _GROUPS.items() for plural in plurals.split()} | _NAMES
_COLLECTIONS = {place: collection for collection, place in _PLACES.items()}

OWN = "setpoint/"


class Layout:
    """Keys of the store and keys of etcd under one `root` (`/registry`), each way."""

    def __init__(self, root: str) -> None:
        self.root = f"/{root.strip('/')}/".encode()
        self.end = self.root[:-1] + b"0"  # "0" follows "/"
        self._to: dict[str, bytes] = {}
        self._from: dict[str, str] = {}

    def own(self, name: str) -> bytes:
        """The place of something that is no object."""
        return self.root + f"{OWN}{name}".encode()

    def place(self, key: str) -> bytes:
        """Where in etcd the object with this key lies."""
        collection, _, rest = key.partition("/")
        start = self._to.get(collection)
        if start is None:
            start = self._to[collection] = self.root + f"{_place_of(collection)}/".encode()
        return start + rest.encode()

    def key(self, place: bytes) -> str:
        """The key of the object at a place; empty for what is no object."""
        path = place[len(self.root) :].decode()
        if path.startswith(OWN):
            return ""
        first, _, rest = path.partition("/")
        if first == "services" or "." in first:  # two segments
            second, _, rest = rest.partition("/")
            first = f"{first}/{second}"
        collection = self._from.get(first)
        if collection is None:
            collection = self._from[first] = _collection_at(first)
        return f"{collection}/{rest}" if rest else ""


def _place_of(collection: str) -> str:
    found = _PLACES.get(collection)
    if found is not None:
        return found
    plural, dot, group = collection.partition(".")
    return f"{group}/{plural}" if dot else plural


def _collection_at(place: str) -> str:
    found = _COLLECTIONS.get(place)
    if found is not None:
        return found
    group, slash, plural = place.partition("/")
    return f"{plural}.{group}" if slash else group
