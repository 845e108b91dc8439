"""What the agent of a node may do. Source: `plugin/pkg/auth/authorizer/node/node_authorizer.go`."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.attributes import name_of
from setpoint.apiserver.authorization.decision import ALLOWED, NO_OPINION, Decision, Rules
from setpoint.apiserver.authorization.node.graph import Graph
from setpoint.apiserver.authorization.rbac.table import Grant, Table
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.registry.rbac.default_roles import Seeds
from setpoint.storage.following import Following
from setpoint.storage.protocol import Store

PREFIX, GROUP = "system:node:", "system:nodes"
_LEASES = "kube-node-lease"
_LIST_RULES = "node authorizer does not support user rule resolution"
_OWN_VERBS = ("get", "create", "update", "patch", "delete")
#: core resources that can only be had one by one → what the graph calls them
_GET = MappingProxyType(
    {
        ("", "persistentvolumes"): "persistentvolumes",
        ("resource.k8s.io", "resourceclaims"): "resource_claims",
        ("storage.k8s.io", "volumeattachments"): "volumeattachments",
    }
)

Check = Callable[[str, RequestInfo], Decision]


def node_of(user: UserInfo) -> str | None:
    """The node whose agent a user is; None when it is none."""
    name = user.name.removeprefix(PREFIX)
    return name if name != user.name and GROUP in user.groups else None


class NodeAuthorizer:
    """A `pipeline.Follower` of what stands between nodes and objects."""

    def __init__(self, store: Store, clock: Clock, seeds: Seeds) -> None:
        self.graph = graph = Graph()
        self._store = store
        self._seen = -1
        self._static = Table()
        self._static.extend(seeds.rules(("", "system:node")), Grant(("", 0), ""))
        self._followings = [
            Following(store, clock, prefix, take)
            for prefix, take in (
                ("pods/", graph.take_pod),
                ("persistentvolumes/", graph.take_volume),
                ("volumeattachments.storage.k8s.io/", graph.take_attachment),
                ("resourceslices.resource.k8s.io/", graph.take_slice),
            )
        ]
        self._checks: dict[tuple[str, str], Check] = {
            ("", "secrets"): self._read,
            ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "serviceaccounts"): self._account,
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
            ("coordination.k8s.io", "leases"): _lease,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("resource.k8s.io", "resourceslices"): self._slice,
            **dict.fromkeys(_GET, self._get),
        }

    async def load(self) -> None:
        for following in self._followings:
            await following.load()

    async def run(self) -> None:
        async with Tasks("node authorizer") as tasks:
            for following in self._followings:
                tasks.start(following.prefix, following.run())

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        node = node_of(user)
        if node is None:
            return NO_OPINION
        if not node:
            return Decision(None, f'unknown node for user "{user.name}"')
        if info.is_resource and (check := self._checks.get((info.group, info.resource))) is not None:
            return check(node, info)
        if info.is_resource:
            found = self._static.resource(info.verb, info.group, info.resource, info.subresource, name_of(info))
        else:
            found = self._static.path(info.verb, info.path)
        return ALLOWED if found is not None else NO_OPINION

    def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        """A node's rights are not a list."""
        return Rules(incomplete=True, error=_LIST_RULES) if node_of(user) is not None else Rules()

    # --- what hangs on the graph ---

    def _related(self, node: str, kind: str, info: RequestInfo) -> Decision:
        name = name_of(info)
        if not name:
            return Decision(None, "No Object name found")
        self._catch_up()
        if self.graph.has_path(node, kind, info.namespace, name):
            return ALLOWED
        return Decision(None, f"no relationship found between node '{node}' and this object")

    def _catch_up(self) -> None:
        """Take what the store has for us: a node may ask for what a pod needs before we have heard of the pod, and may not
        once it has answered that the pod is gone.
        """
        if self._seen != self._store.revision:
            self._seen = self._store.revision
            for following in self._followings:
                following.catch_up()

    def _read(self, node: str, info: RequestInfo, kind: str = "") -> Decision:
        if info.verb not in ("get", "list", "watch"):
            return Decision(None, "can only read resources of this type")
        if info.subresource:
            return Decision(None, "cannot read subresource")
        if not info.namespace:
            return Decision(None, "can only read namespaced object of this type")
        return self._related(node, kind or info.resource, info)

    def _get(self, node: str, info: RequestInfo, kind: str = "") -> Decision:
        if info.verb != "get":
            return Decision(None, "can only get individual resources of this type")
        if info.subresource:
            return Decision(None, "cannot get subresource")
        return self._related(node, kind or _GET[info.group, info.resource], info)

    def _claim(self, node: str, info: RequestInfo) -> Decision:
        if info.subresource != "status":
            return self._get(node, info, "claims")
        if info.verb not in ("update", "patch"):
            return Decision(None, "can only get/update/patch this type")
        return self._related(node, "claims", info)

    def _account(self, node: str, info: RequestInfo) -> Decision:
        if info.verb == "get" and not info.subresource:
            return self._read(node, info, "accounts")
        if info.verb != "create" or not info.name:
            return Decision(None, "can only create tokens for individual service accounts")
        if info.subresource != "token":
            return Decision(None, "can only create token subresource of serviceaccount")
        return self._related(node, "accounts", info)

    def _pod(self, node: str, info: RequestInfo) -> Decision:
        """Which pods may be written, and that mirror pods are the node's own, is the admission plugin's (NodeRestriction)."""
        match info.subresource, info.verb:
            case "", "get":
                return self._get(node, info, "pods")
            case "", ("list" | "watch"):
                if _selects(info, "spec.nodeName", node):
                    return ALLOWED
                if name_of(info):
                    return self._related(node, "pods", info)
                return Decision(None, "can only list/watch pods with spec.nodeName field selector")
            case ("", ("create" | "delete")) | ("status", ("update" | "patch")) | ("eviction", "create"):
                return ALLOWED
        return NO_OPINION

    @staticmethod
    def _node(node: str, info: RequestInfo) -> Decision:
        """Reads are of the own node, by name, so that they are possible before it is there; writes are NodeRestriction's."""
        match info.subresource, info.verb:
            case ("", ("create" | "update" | "patch")) | ("status", ("update" | "patch")):
                return ALLOWED
            case "", ("get" | "list" | "watch"):
                name = name_of(info)
                if name == node:
                    return ALLOWED
                what = f"'{name}'" if name else "all nodes"
                return Decision(None, f"node '{node}' cannot read {what}, only its own Node object")
        return NO_OPINION

    def _slice(self, node: str, info: RequestInfo) -> Decision:
        if info.subresource:
            return Decision(None, "cannot authorize ResourceSlice subresources")
        match info.verb:
            case "create":
                return ALLOWED
            case "get" | "update" | "patch" | "delete":
                return self._related(node, "resourceslices", info)
            case "watch" | "list" | "deletecollection":
                if _selects(info, "spec.nodeName", node):
                    return ALLOWED
                return Decision(None, "can only list/watch/deletecollection resourceslices with nodeName field selector")
        allowed = "get, watch, list, create, update, patch, delete, deletecollection"
        return Decision(None, f"only the following verbs are allowed for a ResourceSlice: {allowed}")


def _selects(info: RequestInfo, field: str, node: str) -> bool:
    """Whether a field selector narrows a collection to what is the node's."""
    terms = info.fields.requirements if info.fields is not None else ()
    return any(term.field == field and term.equal and term.value == node for term in terms)


def _lease(node: str, info: RequestInfo) -> Decision:
    """A create has no name yet: NodeRestriction sees to that."""
    if info.verb not in _OWN_VERBS:
        return Decision(None, "can only get, create, update, patch, or delete a node lease")
    if info.namespace != _LEASES:
        return Decision(None, f'can only access leases in the "{_LEASES}" system namespace')
    if info.verb != "create" and info.name != node:
        return Decision(None, "can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(node: str, info: RequestInfo) -> Decision:
    if info.verb not in _OWN_VERBS:
        return Decision(None, "can only get, create, update, patch, or delete a CSINode")
    if info.subresource:
        return Decision(None, "cannot authorize CSINode subresources")
    if info.verb != "create" and info.name != node:
        return Decision(None, "can only access CSINode with the same name as the requesting node")
    return ALLOWED
