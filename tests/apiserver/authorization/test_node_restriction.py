"""What agents may write, seen through the whole server."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.apiserver.authorization.conftest import World, node

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.node.restriction import NodeRestriction
from setpoint.registry.admission.reader import StoreReader
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Context
from setpoint.registry.table import RESOURCES

ONE, OTHER = node("one"), node("other")
MERGE: Any = {"content_type": "application/merge-patch+json"}
PODS = "/api/v1/namespaces/default/pods"


async def told(world: World, line: str, body: Any, user: UserInfo = ONE, **headers: str) -> str:
    """Why the write of an agent is refused."""
    status = await world(line, user, body, code=403, **headers)
    message: str = status["message"]
    return message.partition(" is forbidden: ")[2]


@pytest.fixture
async def nodes(world: World) -> World:
    for user, name in ((ONE, "one"), (OTHER, "other")):
        await world("POST /api/v1/nodes", user, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
    if (await world.respond("GET /api/v1/namespaces/default")).status == 404:
        await world("POST /api/v1/namespaces", body={"metadata": {"name": "default"}})
    for space in ("default", "kube-node-lease"):
        await world.respond("POST /api/v1/namespaces", body={"metadata": {"name": space}})
    await world.respond("POST /api/v1/namespaces/default/serviceaccounts", body={"metadata": {"name": "default"}})
    for name in ("one", "other"):
        spec = {"nodeName": name, "containers": [{"name": "c", "image": "i"}]}
        await world(f"POST {PODS}", body={"metadata": {"name": f"on-{name}"}, "spec": spec})
    return world


async def test_nodes(nodes: World) -> None:
    made = {"metadata": {"name": "third"}}
    assert await told(nodes, "POST /api/v1/nodes", made) == 'node "one" is not allowed to modify node "third"'
    path = "PATCH /api/v1/nodes/one"
    assert await told(nodes, "PATCH /api/v1/nodes/other", {"metadata": {"labels": {"a": "b"}}}, **MERGE) == (
        'node "one" is not allowed to modify node "other"'
    )
    await nodes(path, ONE, {"metadata": {"labels": {"a": "b", "node.kubernetes.io/x": "y"}}}, **MERGE)
    labels = {"node-restriction.kubernetes.io/x": "y", "k8s.io/z": "", "example.com/fine": ""}
    assert await told(nodes, path, {"metadata": {"labels": labels}}, **MERGE) == (
        "is not allowed to modify labels: k8s.io/z, node-restriction.kubernetes.io/x"
    )
    taints = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    assert await told(nodes, path, taints, **MERGE) == 'node "one" is not allowed to modify taints'
    await nodes("PATCH /api/v1/nodes/one/status", ONE, {"status": {"phase": "Running"}}, **MERGE)


async def test_pods(nodes: World) -> None:
    status = {"status": {"message": "m"}}
    await nodes(f"PATCH {PODS}/on-one/status", ONE, status, **MERGE)
    assert await told(nodes, f"PATCH {PODS}/on-other/status", status, **MERGE) == (
        'node "one" can only update pod status for pods with spec.nodeName set to itself'
    )
    labels = {"metadata": {"labels": {"a": "b"}}}
    assert (
        await told(nodes, f"PATCH {PODS}/on-one/status", labels, **MERGE) == 'node "one" cannot update labels through pod status'
    )
    assert (
        await told(nodes, f"DELETE {PODS}/on-other", None) == 'node "one" can only delete pods with spec.nodeName set to itself'
    )
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "on-other"}}
    assert await told(nodes, f"POST {PODS}/on-other/eviction", eviction) == (
        "node one can only evict pods with spec.nodeName set to itself"
    )
    await nodes(f"DELETE {PODS}/on-one?gracePeriodSeconds=0", ONE)


async def test_mirror_pods(nodes: World) -> None:
    uid = (await nodes("GET /api/v1/nodes/one"))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "one", "controller": True, "uid": uid}
    metadata = {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    spec: dict[str, Any] = {"nodeName": "one", "containers": [{"name": "c", "image": "i"}]}
    await nodes(f"POST {PODS}?dryRun=All", ONE, {"metadata": metadata, "spec": spec})

    async def why(changed: dict[str, Any], more: dict[str, Any]) -> str:
        return await told(nodes, f"POST {PODS}?dryRun=All", {"metadata": {**metadata, **changed}, "spec": {**spec, **more}})

    assert await why({"annotations": {}}, {}) == (
        'pod does not have "kubernetes.io/config.mirror" annotation, node "one" can only create mirror pods'
    )
    assert await why({}, {"nodeName": "other"}) == 'node "one" can only create pods with spec.nodeName set to itself'
    assert await why({"ownerReferences": []}, {}) == ('node "one" can only create pods with an owner reference set to itself')
    assert await why({"ownerReferences": [{**owner, "uid": "x"}]}, {}) == f"node one UID mismatch: expected x got {uid}"
    volumes = [{"name": "s", "persistentVolumeClaim": {"claimName": "c"}}]
    assert await why({}, {"volumes": volumes}) == 'node "one" can not create pods that reference persistentvolumeclaims'


async def test_leases_and_csi_nodes(nodes: World) -> None:
    path = "POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    await nodes(path, ONE, {"metadata": {"name": "one"}, "spec": {"leaseDurationSeconds": 40}})
    same = "can only access node lease with the same name as the requesting node"
    assert await told(nodes, path, {"metadata": {"name": "other"}}) == same
    made = {"metadata": {"name": "other"}, "spec": {"drivers": []}}
    assert await told(nodes, "POST /apis/storage.k8s.io/v1/csinodes", made) == (
        "can only access CSINode with the same name as the requesting node"
    )


async def test_slices(nodes: World) -> None:
    spec = {"driver": "d.example.com", "nodeName": "other", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
    body = {"metadata": {"name": "s"}, "spec": {**spec, "devices": []}}
    assert await told(nodes, "POST /apis/resource.k8s.io/v1/resourceslices", body) == (
        "can only create ResourceSlice with the same NodeName as the requesting node"
    )


def signing_request(common_name: str, signer: str) -> dict[str, Any]:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    key = ec.generate_private_key(ec.SECP256R1())
    built = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    request = base64.b64encode(built.public_bytes(serialization.Encoding.PEM)).decode()
    return {"metadata": {"name": "r"}, "spec": {"request": request, "signerName": signer, "usages": ["client auth"]}}


async def test_requests_for_certificates(nodes: World) -> None:
    path = "POST /apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All"
    for signer in ("kubelet-serving", "kube-apiserver-client-kubelet"):
        why = await told(nodes, path, signing_request("system:node:other", f"kubernetes.io/{signer}"))
        assert why == "can only create a node CSR with CN=system:node:one"
        await nodes(path, ONE, signing_request("system:node:one", f"kubernetes.io/{signer}"), code=201)
    await nodes(path, ONE, signing_request("anybody", "example.com/x"), code=201)
    garbage = signing_request("x", "kubernetes.io/kubelet-serving")
    garbage["spec"]["request"] = "aGVsbG8="
    assert await told(nodes, path, garbage) == "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"


async def test_tokens(nodes: World) -> None:
    door: Any = nodes.pipeline.authorizer
    step = NodeRestriction(StoreReader(nodes.pipeline.store), door)
    accounts = next(each for each in RESOURCES if each.plural == "serviceaccounts")
    uids = {name: (await nodes(f"GET {PODS}/{name}"))["metadata"]["uid"] for name in ("on-one", "on-other")}

    async def why(pod: str, uid: str, *audiences: str) -> str:
        reference = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid}
        spec = {"boundObjectRef": reference if pod else None, "audiences": list(audiences)}
        context = Context(ONE, now=0.0)
        request = AdmissionRequest("CREATE", accounts, "v1", context, "default", "default", "token", obj={"spec": spec})
        with pytest.raises(StatusError) as caught:
            await step.admit(request)
        return caught.value.message.partition(" is forbidden: ")[2]

    assert await why("", "") == "node requested token not bound to a pod"
    assert await why("on-one", "") == "node requested token with a pod binding without a uid"
    assert await why("on-other", uids["on-other"]) == "node requested token bound to a pod scheduled on a different node"
    assert await why("on-one", uids["on-one"], "a", "b") == "node may only request 0 or 1 audiences"
    assert await why("on-one", uids["on-one"], "vault") == (
        'audience "vault" not found in pod spec volume, system:node:one is not authorized to request tokens for this audience'
    )
