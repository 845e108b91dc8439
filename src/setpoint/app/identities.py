"""Who the parts are: the same users and groups as Kubernetes' own components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pki import CLIENT, SERVER, KeyPair, Subject

if TYPE_CHECKING:
    from setpoint.apiserver.pki import Authority
    from setpoint.app.api_server import ApiServer
    from setpoint.app.data_dir import DataDir

CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
NODES = "system:nodes"


def node_user(name: str) -> str:
    """The user of a node's agent."""
    return f"system:node:{name}"


def user(name: str, *groups: str) -> UserInfo:
    """An identity of the system as authentication would find it."""
    return UserInfo(name, groups=(*groups, "system:authenticated"))


def node_serving(server: ApiServer, name: str) -> KeyPair:
    """The certificate that a node of this machine serves its port with."""
    subject = Subject(node_user(name), (NODES,), (name, "localhost", "127.0.0.1"), (SERVER, CLIENT))
    return server.authority.issue(f"node-{name}", subject)


def controllers_kubeconfigs(data: DataDir, authority: Authority, url: str) -> None:
    """Kubeconfigs of controller manager and scheduler for the server at `url`."""
    from setpoint.app import kubeconfig

    for name, user_name in (("controller-manager", CONTROLLER_MANAGER), ("scheduler", SCHEDULER)):
        pair = authority.issue(f"client-{name}", Subject(user_name))
        kubeconfig.write(data.component_kubeconfig(name), kubeconfig.document(url, authority.certificate_file, pair, name))


def write_component_kubeconfigs(server: ApiServer) -> None:
    """Kubeconfigs of the parts that run as processes of their own."""
    controllers_kubeconfigs(server.data, server.authority, server.url)
    for name in server.options.node_names:
        server.component_kubeconfig(name, Subject(node_user(name), (NODES,)))
        node_serving(server, name)
