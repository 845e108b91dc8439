"""NodeRestriction: what the agent of a node may write is about that node and its pods.

The authoriser lets agents write to collections; this looks at what they write. Source: `plugin/pkg/admission/noderestriction`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import not_found
from setpoint.apiserver.authorization.decision import UnionAuthorizer
from setpoint.apiserver.authorization.node.authorizer import PREFIX, node_of
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.pod import references

Json = Mapping[str, Any]
_LEASES = "kube-node-lease"
_MIRROR = "kubernetes.io/config.mirror"
_RESTRICTED = "node-restriction.kubernetes.io"
#: labels of Kubernetes' own that an agent may set, and the domains of others
_LABELS = frozenset(
    (
        "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build",
        "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.kubernetes.io/region", "failure-domain.kubernetes.io/zone",
        "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
    )
)  # fmt: skip
_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
#: what of a claim's status agents write
_CLAIM_STATUS = frozenset(("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"))
#: who signs certificates of nodes
_NODE_SIGNERS = ("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet")
_UNCOMPARED = frozenset(("resourceVersion", "managedFields"))


class NodeRestriction(BaseStep):
    """Looks at agents' writes; those of others pass."""

    changes: ClassVar[bool] = False

    def __init__(self, reader: Reader, authorizer: UnionAuthorizer) -> None:
        self._reader = reader
        self._authorizer = authorizer
        self._checks = {
            "pods": self._pods,
            "nodes": self._node,
            "persistentvolumeclaims": self._claim,
            "serviceaccounts": self._account,
            "leases.coordination.k8s.io": self._lease,
            "csinodes.storage.k8s.io": self._csi_node,
            "resourceslices.resource.k8s.io": self._slice,
            "certificatesigningrequests.certificates.k8s.io": self._signing_request,
        }

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return operation in {"CREATE", "UPDATE", "DELETE"} and group_resource in self._checks

    async def admit(self, request: AdmissionRequest) -> None:
        user = request.context.user
        node = node_of(user)
        if node is None:
            return
        why = f'could not determine node from user "{user.name}"'
        if node:
            why = await self._checks[request.resource.group_resource](node, request)
        if why:
            raise refuse(request, why)

    # --- pods ---

    async def _pods(self, node: str, request: AdmissionRequest) -> str:
        match request.subresource:
            case "":
                return await self._pod(node, request)
            case "status":
                return _pod_status(node, request)
            case "eviction":
                if request.operation != "CREATE":
                    return f"unexpected operation {request.operation}"
                pod = await self._found("pods", request.namespace, request.name or _name(request.obj))
                own = _node_name(pod) == node
                return "" if own else f"node {node} can only evict pods with spec.nodeName set to itself"
        return f"unexpected pod subresource \"{request.subresource}\", only 'status' and 'eviction' are allowed"

    async def _pod(self, node: str, request: AdmissionRequest) -> str:
        if request.operation == "CREATE":
            return await self._new_pod(node, request.obj or {})
        if request.operation == "DELETE":
            pod = request.old or await self._found("pods", request.namespace, request.name)
            own = _node_name(pod) == node
            return "" if own else f'node "{node}" can only delete pods with spec.nodeName set to itself'
        return f'unexpected operation "{request.operation}", node "{node}" can only create and delete mirror pods'

    async def _new_pod(self, node: str, pod: Json) -> str:
        metadata = pod.get("metadata") or {}
        if _MIRROR not in (metadata.get("annotations") or {}):
            return f'pod does not have "{_MIRROR}" annotation, node "{node}" can only create mirror pods'
        if _node_name(pod) != node:
            return f'node "{node}" can only create pods with spec.nodeName set to itself'
        why = await self._owner(node, metadata.get("ownerReferences") or [])
        return why or _referring(node, pod.get("spec") or {})

    async def _owner(self, node: str, owners: list[Json]) -> str:
        only = f'node "{node}" can only create pods with'
        if len(owners) > 1:
            return f"{only} a single owner reference set to itself"
        owner = owners[0] if owners else {}
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
            return f"{only} an owner reference set to itself"
        if not owner.get("controller"):
            return f"{only} a controller owner reference set to itself"
        if owner.get("blockOwnerDeletion"):
            return f'node "{node}" must not set blockOwnerDeletion on an owner reference'
        uid = (await self._found("nodes", "", node))["metadata"].get("uid")
        given = owner.get("uid") or ""
        return "" if given == uid else f"node {node} UID mismatch: expected {given} got {uid}"

    async def _found(self, group_resource: str, namespace: str, name: str) -> Json:
        obj = await self._reader.get(group_resource, namespace, name)
        if obj is None:
            raise not_found("", group_resource, name)
        return obj

    # --- others ---

    async def _node(self, node: str, request: AdmissionRequest) -> str:
        name = request.name or _name(request.obj)
        if name != node:
            return f'node "{node}" is not allowed to modify node "{name}"'
        new, old = request.obj or {}, request.old or {}
        if request.operation == "CREATE":
            if (new.get("spec") or {}).get("configSource") is not None:
                return f'node "{node}" is not allowed to create pods with a non-nil configSource'
            forbidden = _forbidden_labels(new, {})
            return f'node "{node}" is not allowed to set the following labels: {forbidden}' if forbidden else ""
        if request.operation == "UPDATE":
            return _changed_node(node, new, old)
        return ""

    async def _claim(self, node: str, request: AdmissionRequest) -> str:
        if request.subresource != "status":
            return "may only update PVC status"
        if request.operation != "UPDATE":
            return f'unexpected operation "{request.operation}"'
        if _without_status(request.obj or {}) == _without_status(request.old or {}):
            return ""
        return f'node "{node}" is not allowed to update fields other than status.capacity and status.conditions'

    async def _account(self, node: str, request: AdmissionRequest) -> str:
        """A token must be for a pod on the node, and for somebody whom that pod speaks to."""
        if request.operation != "CREATE" or request.subresource != "token":
            return ""
        spec = (request.obj or {}).get("spec") or {}
        bound = spec.get("boundObjectRef") or {}
        if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not bound.get("name"):
            return "node requested token not bound to a pod"
        uid = bound.get("uid")
        if not uid:
            return "node requested token with a pod binding without a uid"
        pod = await self._found("pods", request.namespace, bound["name"])
        if uid != pod["metadata"].get("uid"):
            record = "does not match the UID in record. The object might have been deleted and then recreated"
            return f"the UID in the bound object reference ({uid}) {record}"
        if _node_name(pod) != node:
            return "node requested token bound to a pod scheduled on a different node"
        return await self._audience(request, spec.get("audiences") or [], pod)

    async def _audience(self, request: AdmissionRequest, audiences: list[str], pod: Json) -> str:
        if len(audiences) > 1:
            return "node may only request 0 or 1 audiences"
        audience = audiences[0] if audiences else ""
        if audience in _audiences(pod) or audience in await self._driver_audiences(pod):
            return ""
        info = RequestInfo(
            is_resource=True,
            path="",
            verb="request-serviceaccounts-token-audience",
            version="*",
            namespace=request.namespace,
            resource=audience,
            name=request.name,
        )
        decision = await self._authorizer.decide(request.context.user, info)
        if decision.allowed:
            return ""
        who = f"{request.context.user.name} is not authorized to request tokens for this audience"
        return f'audience "{audience}" not found in pod spec volume, {who}'

    async def _driver_audiences(self, pod: Json) -> set[str]:
        """Whom the drivers of the pod's volumes want tokens for."""
        found: set[str] = set()
        for name in {volume["csi"].get("driver", "") for volume in _volumes(pod) if volume.get("csi")} | {
            driver async for driver in self._claimed_drivers(pod)
        }:
            driver = await self._reader.get("csidrivers.storage.k8s.io", "", name) or {}
            found |= {each.get("audience", "") for each in (driver.get("spec") or {}).get("tokenRequests") or ()}
        return found

    async def _claimed_drivers(self, pod: Json) -> Any:
        namespace = pod["metadata"].get("namespace", "")
        for volume in _volumes(pod):
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if volume.get("ephemeral"):
                name = f"{pod['metadata']['name']}-{volume['name']}"
            claim = await self._reader.get("persistentvolumeclaims", namespace, name) if name else None
            bound = ((claim or {}).get("spec") or {}).get("volumeName")
            found = await self._reader.get("persistentvolumes", "", bound) if bound else None
            if driver := (((found or {}).get("spec") or {}).get("csi") or {}).get("driver"):
                yield driver

    async def _lease(self, node: str, request: AdmissionRequest) -> str:
        if request.namespace != _LEASES:
            return f'can only access leases in the "{_LEASES}" system namespace'
        name = _name(request.obj) if request.operation == "CREATE" else request.name
        return "" if name == node else "can only access node lease with the same name as the requesting node"

    async def _csi_node(self, node: str, request: AdmissionRequest) -> str:
        name = _name(request.obj) if request.operation == "CREATE" else request.name
        return "" if name == node else "can only access CSINode with the same name as the requesting node"

    async def _slice(self, node: str, request: AdmissionRequest) -> str:
        """Updates are the authoriser's."""
        obj = request.obj if request.operation == "CREATE" else request.old if request.operation == "DELETE" else None
        if obj is None or ((obj.get("spec") or {}).get("nodeName") or "") == node:
            return ""
        return f"can only {request.operation.lower()} ResourceSlice with the same NodeName as the requesting node"

    async def _signing_request(self, node: str, request: AdmissionRequest) -> str:
        """Whatever else a node's certificate says is looked at by who signs it."""
        spec = (request.obj or {}).get("spec") or {}
        if request.operation != "CREATE" or spec.get("signerName") not in _NODE_SIGNERS:
            return ""
        from setpoint.registry.certificates import pem

        try:
            name = pem.request_common_name(spec.get("request") or "")
        except pem.Unreadable as error:
            return f"unable to parse csr: {error}"
        own = f"{PREFIX}{node}"
        return "" if name == own else f"can only create a node CSR with CN={own}"


def _name(obj: Json | None) -> str:
    return str(((obj or {}).get("metadata") or {}).get("name") or "")


def _node_name(pod: Json) -> str:
    return str((pod.get("spec") or {}).get("nodeName") or "")


def _volumes(pod: Json) -> list[Json]:
    return list((pod.get("spec") or {}).get("volumes") or ())


def _audiences(pod: Json) -> set[str]:
    """Whom the tokens are for that are mounted into a pod."""
    return {
        source["serviceAccountToken"].get("audience") or ""
        for volume in _volumes(pod)
        for source in (volume.get("projected") or {}).get("sources") or ()
        if source.get("serviceAccountToken")
    }


def _referring(node: str, spec: Json) -> str:
    """A pod that an agent makes may refer to nothing, else it could be used to read that."""
    cannot = f'node "{node}" can not create pods that reference'
    if spec.get("serviceAccountName"):
        return f"{cannot} a service account"
    found = next(_referred(spec), "")
    return f"{cannot} {found}" if found else ""


def _referred(spec: Json) -> Iterator[str]:
    if any(references.secrets(spec)):
        yield "secrets"
    if any(references.configmaps(spec)):
        yield "configmaps"
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("clusterTrustBundle"):
                yield "clustertrustbundles"
            if source.get("podCertificate"):
                yield "podcertificates"
    if any(volume.get("persistentVolumeClaim") for volume in spec.get("volumes") or ()):
        yield "persistentvolumeclaims"
    if spec.get("resourceClaims"):
        yield "resourceclaims"


def _pod_status(node: str, request: AdmissionRequest) -> str:
    if request.operation != "UPDATE":
        return f'unexpected operation "{request.operation}"'
    new, old = request.obj or {}, request.old or {}
    if _node_name(old) != node:
        only = "for pods with spec.nodeName set to itself"
        return f'node "{node}" can only update pod status {only}'
    if _labels(new) != _labels(old):
        return f'node "{node}" cannot update labels through pod status'
    claims, before = (((each.get("status") or {}).get("resourceClaimStatuses")) or [] for each in (new, old))
    return "" if claims == before else f'node "{node}" cannot update resource claim statues'


def _changed_node(node: str, new: Json, old: Json) -> str:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec.get("configSource") is not None and spec["configSource"] != before.get("configSource"):
        return f'node "{node}" is not allowed to update configSource to a new non-nil configSource'
    if (spec.get("taints") or []) != (before.get("taints") or []):
        return f'node "{node}" is not allowed to modify taints'
    owners, owners_before = (((each.get("metadata") or {}).get("ownerReferences")) or [] for each in (new, old))
    if owners != owners_before:
        return f'node "{node}" is not allowed to modify ownerReferences'
    forbidden = _forbidden_labels(new, old)
    return f"is not allowed to modify labels: {forbidden}" if forbidden else ""


def _labels(obj: Json) -> Mapping[str, str]:
    found: Mapping[str, str] = (obj.get("metadata") or {}).get("labels") or {}
    return found


def _forbidden_labels(new: Json, old: Json) -> str:
    """The labels that an agent may not change, in one text."""
    mine, theirs = _labels(new), _labels(old)
    changed = {key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)}
    return ", ".join(sorted(key for key in changed if _is_forbidden(key)))


def _is_forbidden(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    if not slash:
        return False
    if _within(domain, _RESTRICTED):
        return True
    if not (_within(domain, "kubernetes.io") or _within(domain, "k8s.io")):
        return False
    return label not in _LABELS and not any(_within(domain, own) for own in _DOMAINS)


def _within(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")


def _without_status(claim: Json) -> Json:
    """A claim without what its node may write of it."""
    metadata = {name: value for name, value in (claim.get("metadata") or {}).items() if name not in _UNCOMPARED}
    status = {name: value for name, value in (claim.get("status") or {}).items() if name not in _CLAIM_STATUS and value}
    return {**claim, "metadata": metadata, "status": status}
