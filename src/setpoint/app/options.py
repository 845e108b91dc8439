"""What can be chosen: one frozen value from the command line down to the parts."""

# No `annotations` of __future__ here: a start reads the flags from the annotations, which would have to be evaluated again.
import os
from pathlib import Path
from typing import Annotated

from msgspec import Struct, field

from setpoint.app.flags import Flag, absolute, commas

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


def _all_between_commas(text: str) -> tuple[str, ...]:
    """With the empty ones, which are no algorithms: one too many commas is told, not passed over."""
    return tuple(text.split(","))


def _file_or_output(path: str) -> str:
    return path if path == "-" else absolute(path)


DataDirectory = Annotated[Path, Flag("Cluster", "--data-dir", "Where everything is kept.", Path.absolute)]
PodNetwork = Annotated[str, Flag("Nodes", "--pod-network", "auto (a network per pod where root may make one) or host.")]
LogLevel = Annotated[str, Flag("This command", "--log-level", "debug, info, warning or error.")]


def default_data_dir() -> Path:
    """`$SETPOINT_DATA_DIR`, else `setpoint` in the user's data directory (XDG)."""
    if chosen := os.environ.get("SETPOINT_DATA_DIR"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_DATA_HOME")
    return ((Path(base) if base else Path.home() / ".local" / "share") / "setpoint").absolute()


class Timings(Struct, frozen=True):
    """Kubernetes' own defaults, in seconds; tests of node loss shorten them."""

    lease_seconds: float = 40
    heartbeat_period: Annotated[
        float, Flag("Timings", "--node-heartbeat-period", "Seconds between two heartbeats of a node.")
    ] = 10
    status_report_period: float = 300
    node_monitor_period: Annotated[float, Flag("Timings", "--node-monitor-period", "Seconds between two looks at the nodes.")] = 5
    node_monitor_grace: Annotated[
        float, Flag("Timings", "--node-monitor-grace-period", "Seconds until a silent node is Unknown.")
    ] = 40
    not_ready_toleration: Annotated[
        int, Flag("Timings", "--default-not-ready-toleration-seconds", "How long pods stay on a NotReady node.")
    ] = 300
    unreachable_toleration: Annotated[
        int, Flag("Timings", "--default-unreachable-toleration-seconds", "How long pods stay on a lost node.")
    ] = 300


class Oidc(Struct, frozen=True):
    """One issuer of OpenID Connect tokens, as kube-apiserver's --oidc-* flags give it. `required_claims` are `key=value`."""

    issuer_url: Annotated[str, Flag("Authentication", "--oidc-issuer-url", "Issuer of OpenID Connect tokens.")] = ""
    client_id: Annotated[str, Flag("Authentication", "--oidc-client-id", "The audience of its tokens.")] = ""
    username_claim: Annotated[str, Flag("Authentication", "--oidc-username-claim", "The claim that is the user's name.")] = "sub"
    username_prefix: Annotated[
        str,
        Flag("Authentication", "--oidc-username-prefix", "What stands before it; - for nothing."),
    ] = ""
    groups_claim: Annotated[str, Flag("Authentication", "--oidc-groups-claim", "The claim that lists groups.")] = ""
    groups_prefix: Annotated[str, Flag("Authentication", "--oidc-groups-prefix", "What stands before each.")] = ""
    required_claims: Annotated[
        tuple[str, ...], Flag("Authentication", "--oidc-required-claim", "key=value that tokens must have.")
    ] = ()
    ca_file: Annotated[str, Flag("Authentication", "--oidc-ca-file", "CA of the issuer's server.")] = ""
    signing_algs: Annotated[
        tuple[str, ...],
        Flag("Authentication", "--oidc-signing-algs", "Accepted algorithms, with commas between.", _all_between_commas),
    ] = ("RS256",)


class Access(Struct, frozen=True):
    """Who is let in: whether anybody is without a credential, and what proves an identity besides the cluster's own means.

    Empty: none.
    """

    anonymous: Annotated[
        bool, Flag("Authentication", "--anonymous-auth", "Let requests without a credential in as system:anonymous.")
    ] = True
    authentication_config: Annotated[
        str, Flag("Authentication", "--authentication-config", "Kubernetes' AuthenticationConfiguration.", absolute)
    ] = ""
    token_webhook: Annotated[
        str,
        Flag(
            "Authentication",
            "--authentication-token-webhook-config-file",
            "Kubeconfig of a server that judges tokens.",
            absolute,
        ),
    ] = ""
    oidc: Oidc = Oidc()


class Etcd(Struct, frozen=True):
    """How etcd is reached: paths of PEM files, empty for none, and the key under which everything lies."""

    ca_file: Annotated[str, Flag("Store", "--etcd-cafile", "CA of etcd's servers; TLS.", absolute)] = ""
    certificate_file: Annotated[str, Flag("Store", "--etcd-certfile", "Client certificate for etcd.", absolute)] = ""
    key_file: Annotated[str, Flag("Store", "--etcd-keyfile", "Its key.", absolute)] = ""
    prefix: Annotated[str, Flag("Store", "--etcd-prefix", "What keys in etcd begin with.")] = "/registry"


class Election(Struct, frozen=True):
    """Whether controllers and scheduler run only while they hold their lease, and the lease's timing in seconds (Kubernetes').

    `wanted` None: where several may run, which is on etcd and where they run alone.
    """

    wanted: Annotated[
        bool | None, Flag("Leader election", "--leader-elect", "Controllers wait for a lease.  [default: on etcd]")
    ] = None
    lease_seconds: Annotated[
        float, Flag("Leader election", "--leader-elect-lease-duration", "Seconds until a silent leader is replaced.")
    ] = 15
    renew_seconds: Annotated[
        float, Flag("Leader election", "--leader-elect-renew-deadline", "Seconds until a leader that cannot renew gives up.")
    ] = 10
    retry_seconds: Annotated[float, Flag("Leader election", "--leader-elect-retry-period", "Seconds between two tries.")] = 2


class Encryption(Struct, frozen=True):
    """What is sealed in the store (no configuration: nothing), and whether changes are taken while the server runs."""

    config: Annotated[str, Flag("Store", "--encryption-provider-config", "Kubernetes' EncryptionConfiguration.", absolute)] = ""
    reload: Annotated[
        bool, Flag("Store", "--encryption-provider-config-automatic-reload", "Take its changes without a restart.")
    ] = False


class NodeRanges(Struct, frozen=True):
    """The ranges that pods' addresses come from, of which each node gets a part of `mask` bits."""

    allocate: Annotated[bool, Flag("Nodes", "--allocate-node-cidrs", "Give each node a part of --cluster-cidr.")] = False
    cluster: Annotated[
        str,
        Flag("Nodes", "--cluster-cidr", "Range of pods' addresses, one per family, with commas."),
    ] = "10.244.0.0/16"
    mask: Annotated[int, Flag("Nodes", "--node-cidr-mask-size", "Size of a node's part of an IPv4 range.", least=0, most=32)] = 24

    @property
    def ranges(self) -> tuple[str, ...]:
        """None where nodes get none."""
        return tuple(text.strip() for text in self.cluster.split(",") if text.strip()) if self.allocate else ()


class Audit(Struct, frozen=True):
    """What is written of requests, and where; as kube-apiserver's --audit-* flags. Off without both paths."""

    policy: Annotated[str, Flag("Audit", "--audit-policy-file", "What is recorded of requests.", absolute)] = ""
    log: Annotated[str, Flag("Audit", "--audit-log-path", "Where to; - is standard output.", _file_or_output)] = ""
    size: Annotated[int, Flag("Audit", "--audit-log-maxsize", "MiB until the audit log is begun anew; 0 is 100.", least=0)] = 0
    backups: Annotated[int, Flag("Audit", "--audit-log-maxbackup", "How many old audit logs are kept; 0 is all.", least=0)] = 0
    days: Annotated[int, Flag("Audit", "--audit-log-maxage", "Days for which they are kept; 0 is for ever.", least=0)] = 0


class Options(Struct, frozen=True):
    """How a cluster on this machine is made. `port` None means DEFAULT_PORT or the next free one.

    Without an `authorization_config` Node and RBAC decide. `only` leaves out the other parts: `controllers` and `scheduler` say
    what runs here, which works for the API server at `server` (empty: the one of the data directory).
    """

    data_dir: DataDirectory = field(default_factory=default_data_dir)
    host: Annotated[str, Flag("Cluster", "--host", "Address to listen on.")] = "127.0.0.1"
    port: Annotated[int | None, Flag("Cluster", "--port", "Port; 0 picks a free one.  [default: 6443 or the next free]")] = None
    tls_san: Annotated[
        tuple[str, ...], Flag("Cluster", "--tls-san", "One more name or address in the API server's certificate.")
    ] = ()
    kubeconfig: Annotated[Path | None, Flag("Cluster", "--kubeconfig", "Where to write the kubeconfig.", Path.absolute)] = None
    merge: Annotated[bool, Flag("Cluster", "--merge", "Add a context to the user's kubeconfig, too.")] = False
    kubernetes_version: Annotated[
        str, Flag("Cluster", "--kubernetes-version", "Whose kinds, versions and fields: 1.25 to 1.37.")
    ] = DEFAULT_MINOR
    split: Annotated[bool, Flag("Cluster", "--split", "One process per part instead of one for all.")] = False
    only: Annotated[str, Flag("Cluster", "--only", "The one part to run: apiserver or controllers.")] = ""
    server: Annotated[str, Flag("Cluster", "--server", "API server for --only controllers.")] = ""
    controllers: bool = True
    scheduler: bool = True
    scheduler_config: Annotated[
        Path | None,
        Flag(
            "Cluster",
            "--scheduler-config",
            "A KubeSchedulerConfiguration: profiles, plugins, extenders.",
            Path.absolute,
        ),
    ] = None

    nodes: Annotated[int, Flag("Nodes", "--nodes", "How many nodes run on this machine.", least=0)] = 1
    runtime: Annotated[str, Flag("Nodes", "--runtime", "process or simulated.")] = "process"
    stages: Annotated[Path | None, Flag("Nodes", "--stages", "What pods on simulated nodes go through.", Path.absolute)] = None
    seed: Annotated[int | None, Flag("Nodes", "--seed", "Simulated delays and failures follow from it.")] = None
    pod_network: PodNetwork = "auto"
    node_ranges: NodeRanges = NodeRanges()

    store: Annotated[str, Flag("Store", "--store", "sqlite, memory, or etcd://host:port[,host:port…].")] = "sqlite"
    etcd: Etcd = Etcd()
    encryption: Encryption = Encryption()

    token_auth_file: Annotated[
        Path | None,
        Flag("Authentication", "--token-auth-file", 'Static bearer tokens: token,user,uid,"groups".', Path.absolute),
    ] = None
    access: Access = Access()

    authorization_config: Annotated[
        str,
        Flag("Authorization and admission", "--authorization-config", "Kubernetes' AuthorizationConfiguration.", absolute),
    ] = ""
    admission_config: Annotated[
        str,
        Flag(
            "Authorization and admission",
            "--admission-control-config-file",
            "Kubernetes' AdmissionConfiguration: PodSecurity.",
            absolute,
        ),
    ] = ""
    disabled_plugins: Annotated[
        tuple[str, ...],
        Flag(
            "Authorization and admission",
            "--disable-admission-plugins",
            "Admission plugins to do without, with commas between.",
            commas,
        ),
    ] = ()

    audit: Audit = Audit()
    election: Election = Election()
    timings: Timings = Timings()

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


class Start(Struct, frozen=True):
    """`setpoint up`: the cluster, and how the command behaves."""

    options: Options
    detach: Annotated[bool, Flag("This command", "--detach", "Return once it is ready; end it with `setpoint down`.")] = False
    log_level: LogLevel = "warning"


class Stop(Struct, frozen=True):
    """`setpoint down`."""

    data_dir: DataDirectory = field(default_factory=default_data_dir)


class Part(Struct, frozen=True):
    """`setpoint component`: one process of a split cluster."""

    name: Annotated[str, Flag("", "name", "apiserver, controllers, or a node's name.")]
    data_dir: DataDirectory = field(default_factory=default_data_dir)
    log_level: LogLevel = "warning"


class Join(Struct, frozen=True):
    """`setpoint node`: which cluster this machine joins, as whom."""

    server: Annotated[str, Flag("Cluster", "--server", "URL of the API server.")]
    ca_file: Annotated[
        Path,
        Flag("Cluster", "--ca-file", "The cluster's CA: <data dir>/pki/ca.crt of the server's machine.", Path.absolute),
    ]
    token: Annotated[
        str,
        Flag(
            "Cluster",
            "--token",
            "Needed the first time; others see it in the list of processes.",
            environment="SETPOINT_TOKEN",
        ),
    ] = ""
    token_file: Annotated[Path | None, Flag("Cluster", "--token-file", "A file that holds it; others do not.")] = None
    name: Annotated[str, Flag("Nodes", "--name", "The node's name.  [default: the host's]")] = ""
    data_dir: DataDirectory = field(default_factory=default_data_dir)
    pod_network: PodNetwork = "auto"
    log_level: LogLevel = "warning"
