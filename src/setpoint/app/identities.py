"""Who the parts are: the same users and groups as Kubernetes' own components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pki import Subject

if TYPE_CHECKING:
    from setpoint.apiserver.pki import Authority
    from setpoint.app.api_server import ApiServer
    from setpoint.app.data_dir import DataDir

AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
NODES = "system:nodes"


#: accounts of controllers that are not called as these are; None: the API server's own, which Kubernetes has no controller for
_ACCOUNTS: Mapping[str, str | None] = {
    "bootstrap-signer-controller": "bootstrap-signer",
    # approves serving certificates, too, which Kubernetes leaves to people and gives no account the right to
    "certificatesigningrequest-approving-controller": None,
    "certificatesigningrequest-cleaner-controller": "certificate-controller",
    "certificatesigningrequest-signing-controller": "certificate-controller",
    "daemonset-controller": "daemon-set-controller",
    "endpoints-controller": "endpoint-controller",
    "endpointslice-mirroring-controller": "endpointslicemirroring-controller",
    "garbage-collector-controller": "generic-garbage-collector",
    "host-path-provisioner": "persistent-volume-binder",
    "horizontal-pod-autoscaler-controller": "horizontal-pod-autoscaler",
    "legacy-serviceaccount-token-cleaner-controller": "legacy-service-account-token-cleaner",
    "node-ipam-controller": "node-controller",
    "node-lifecycle-controller": "node-controller",
    "persistentvolume-attach-detach-controller": "attachdetach-controller",
    "persistentvolume-binder-controller": "persistent-volume-binder",
    "persistentvolume-expander-controller": "expand-controller",
    "persistentvolume-protection-controller": "pv-protection-controller",
    "persistentvolumeclaim-protection-controller": "pvc-protection-controller",
    "pod-garbage-collector-controller": "pod-garbage-collector",
    "priority-and-fairness-config-consumer": None,
    "resourceclaim-controller": "resource-claim-controller",
    "root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
    "service-cidr-controller": "service-cidrs-controller",
    "serviceaccount-controller": "service-account-controller",
    "taint-eviction-controller": "node-controller",
    "token-cleaner-controller": "token-cleaner",
}
#: controllers that act as the controller manager itself
_MANAGERS_OWN = frozenset(("serviceaccount-token-controller",))
_SYSTEM = "kube-system"


def controller(name: str) -> UserInfo:
    """Who a controller is, by Kubernetes' name for it: mostly the account of kube-system that its default role is bound to."""
    account = _ACCOUNTS.get(name, name)
    if account is None:
        return user("system:apiserver", MASTERS)
    if name in _MANAGERS_OWN:
        return user(CONTROLLER_MANAGER)
    return user(f"system:serviceaccount:{_SYSTEM}:{account}", "system:serviceaccounts", f"system:serviceaccounts:{_SYSTEM}")


def node_user(name: str) -> str:
    """The user of a node's agent."""
    return f"system:node:{name}"


def user(name: str, *groups: str) -> UserInfo:
    """An identity of the system as authentication would find it."""
    return UserInfo(name, groups=(*groups, AUTHENTICATED))


def controllers_kubeconfigs(data: DataDir, authority: Authority, url: str) -> None:
    """Kubeconfigs of controller manager and scheduler for the server at `url`."""
    from setpoint.app import kubeconfig

    for name, user_name in (("controller-manager", CONTROLLER_MANAGER), ("scheduler", SCHEDULER)):
        pair = authority.issue(f"client-{name}", Subject(user_name))
        kubeconfig.write(data.component_kubeconfig(name), kubeconfig.document(url, authority.certificate_file, pair, name))


def write_component_kubeconfigs(server: ApiServer) -> None:
    """Kubeconfigs of the parts that run as processes of their own."""
    controllers_kubeconfigs(server.data, server.authority, server.url)
    if server.options.runtime == "simulated":  # they are one part, and thousands of certificates take minutes
        return
    for name in server.options.node_names:
        server.component_kubeconfig(name, Subject(node_user(name), (NODES,)))
        server.certificates.node(name)
