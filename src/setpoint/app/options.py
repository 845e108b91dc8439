"""What can be chosen: one frozen value from the command line down to the parts."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

DEFAULT_PORT = 6443
#: the minor of Kubernetes whose behaviour this is; kinds, versions and fields can be another's
DEFAULT_MINOR = "1.36"
SERVICE_RANGE = "10.96.0.0/16"
#: its first address, as the `kubernetes` Service has it
KUBERNETES_ADDRESS = "10.96.0.1"
READY_SECONDS = 30.0
"""How long a part may take to be there."""
_NODES_A_SECOND = 25


class StartError(Exception):
    """Setpoint cannot start; the message is the one clear line for the user, empty when a part of it has said that line."""


class Timings(Struct, frozen=True):
    """Kubernetes' own defaults, in seconds; tests of node loss shorten them."""

    lease_seconds: float = 40.0
    heartbeat_period: float = 10.0
    status_report_period: float = 300.0
    node_monitor_period: float = 5.0
    node_monitor_grace: float = 40.0
    not_ready_toleration: int = 300
    unreachable_toleration: int = 300


class Oidc(Struct, frozen=True):
    """One issuer of OpenID Connect tokens, as kube-apiserver's --oidc-* flags give it. `required_claims` are `key=value`."""

    issuer_url: str = ""
    client_id: str = ""
    username_claim: str = "sub"
    username_prefix: str = ""
    groups_claim: str = ""
    groups_prefix: str = ""
    required_claims: tuple[str, ...] = ()
    ca_file: str = ""
    signing_algs: tuple[str, ...] = ("RS256",)


class Access(Struct, frozen=True):
    """Who is let in: whether anybody is without a credential, and what proves an identity besides the cluster's own means.

    `authentication_config` is the path of Kubernetes' AuthenticationConfiguration, `token_webhook` that of a kubeconfig whose
    server judges tokens; empty: none.
    """

    anonymous: bool = True
    authentication_config: str = ""
    token_webhook: str = ""
    oidc: Oidc = Oidc()


class Etcd(Struct, frozen=True):
    """How etcd is reached: paths of PEM files, empty for none, and the key under which everything lies."""

    ca_file: str = ""
    certificate_file: str = ""
    key_file: str = ""
    prefix: str = "/registry"


class Election(Struct, frozen=True):
    """Whether controllers and scheduler run only while they hold their lease, and the lease's timing in seconds (Kubernetes').

    `wanted` None: where several may run, which is on etcd and where they run alone.
    """

    wanted: bool | None = None
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0


class Encryption(Struct, frozen=True):
    """What is sealed in the store: the path of Kubernetes' EncryptionConfiguration (empty: nothing), and whether its changes
    are taken while the server runs.
    """

    config: str = ""
    reload: bool = False


class NodeRanges(Struct, frozen=True):
    """The ranges that pods' addresses come from, of which each node gets a part of `mask` bits; none: nodes get none."""

    ranges: tuple[str, ...] = ()
    mask: int = 24


class Audit(Struct, frozen=True):
    """What is written of requests, and where; as kube-apiserver's --audit-* flags. Off without both paths.

    `policy` is the path of an audit policy; `log` that of the log, or - for standard output. `size` is in MiB (0: 100).
    """

    policy: str = ""
    log: str = ""
    size: int = 0
    backups: int = 0
    days: int = 0


class Options(Struct, frozen=True):
    """How a cluster on this machine is made.

    `port` 0 picks a free one; `port` None means DEFAULT_PORT or the next free one. `nodes` is how many node agents run here;
    `pod_network` is auto (a network per pod, where root may make one) or host. `stages` declares what pods on simulated nodes
    go through, with chance from `seed`.
    `authorization_config` is the path of Kubernetes' AuthorizationConfiguration; empty: Node and RBAC. `disabled_plugins` are
    admission plugins to do without; `admission_config` is the path of Kubernetes' AdmissionConfiguration.
    `kubernetes_version` is the minor whose kinds, versions and fields are served. `only` names the one part to run: apiserver,
    or controllers (with the scheduler), for the API server at `server` (empty: the one of the data directory). `tls_san` are more
    names and addresses that the API server is reached by. `scheduler_config` is a KubeSchedulerConfiguration.
    """

    data_dir: Path
    host: str = "127.0.0.1"
    port: int | None = None
    kubeconfig: Path | None = None
    merge: bool = False
    nodes: int = 1
    runtime: str = "process"
    stages: Path | None = None
    seed: int | None = None
    pod_network: str = "auto"
    store: str = "sqlite"
    split: bool = False
    token_auth_file: Path | None = None
    access: Access = field(default_factory=Access)
    authorization_config: str = ""
    disabled_plugins: tuple[str, ...] = ()
    admission_config: str = ""
    audit: Audit = field(default_factory=Audit)
    encryption: Encryption = field(default_factory=Encryption)
    controllers: bool = True
    scheduler: bool = True
    scheduler_config: Path | None = None
    only: str = ""
    server: str = ""
    tls_san: tuple[str, ...] = ()
    etcd: Etcd = field(default_factory=Etcd)
    election: Election = field(default_factory=Election)
    node_ranges: NodeRanges = NodeRanges()
    kubernetes_version: str = DEFAULT_MINOR
    timings: Timings = field(default_factory=Timings)

    @property
    def on_etcd(self) -> bool:
        """Whether the store is an etcd, which other API servers may share."""
        return self.store.startswith(("etcd://", "etcds://"))

    @property
    def elects(self) -> bool:
        """Whether controllers and scheduler wait for their lease."""
        return self.election.wanted if self.election.wanted is not None else self.on_etcd or self.only == "controllers"

    @property
    def has_nodes(self) -> bool:
        """Whether nodes that run processes are here: then metrics and volumes for claims are, too."""
        return self.nodes > 0 and self.runtime == "process"

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(f"node-{number}" for number in range(1, self.nodes + 1))

    @property
    def ready_seconds(self) -> float:
        """How long the nodes may take to get ready; thousands of them take longer."""
        return READY_SECONDS + self.nodes / _NODES_A_SECOND
