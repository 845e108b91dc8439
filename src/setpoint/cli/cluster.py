"""`setpoint up`, `down`, `component`: the cluster on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from setpoint.app.data_dir import default_data_dir
from setpoint.app.options import (
    DEFAULT_MINOR,
    Access,
    Audit,
    Election,
    Encryption,
    Etcd,
    NodeRanges,
    Oidc,
    Options,
    StartError,
    Timings,
)

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add this file's commands. Only now is typer needed, which reads the annotations below."""
    global typer  # noqa: PLW0603  the annotations' names are looked up in this module
    import typer

    app.command()(up)
    app.command()(down)
    app.command()(node)
    app.command(hidden=True)(component)


def up(  # noqa: PLR0913, PLR0917  each parameter is an option of the command line
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one.  [default: 6443 or the next free]")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    kubeconfig: Annotated[Path | None, typer.Option(help="Where to write the kubeconfig.", show_default=False)] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Add a context to the user's kubeconfig, too.")] = False,
    nodes: Annotated[int, typer.Option(min=0, help="How many nodes run on this machine.")] = 1,
    runtime: Annotated[str, typer.Option(help="process or simulated.")] = "process",
    stages: Annotated[Path | None, typer.Option(help="What pods on simulated nodes go through.", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help="Simulated delays and failures follow from it.", show_default=False)] = None,
    pod_network: Annotated[str, typer.Option(help="auto (a network per pod where root may make one) or host.")] = "auto",
    store: Annotated[str, typer.Option(help="sqlite, memory, or etcd://host:port[,host:port…].")] = "sqlite",
    etcd_cafile: Annotated[str, typer.Option(help="CA of etcd's servers; TLS.", show_default=False)] = "",
    etcd_certfile: Annotated[str, typer.Option(help="Client certificate for etcd.", show_default=False)] = "",
    etcd_keyfile: Annotated[str, typer.Option(help="Its key.", show_default=False)] = "",
    etcd_prefix: Annotated[str, typer.Option(help="What keys in etcd begin with.")] = "/registry",
    only: Annotated[str, typer.Option(help="The one part to run: apiserver or controllers.", show_default=False)] = "",
    server: Annotated[str, typer.Option(help="API server for --only controllers.", show_default=False)] = "",
    tls_san: Annotated[list[str] | None, typer.Option(help="One more name or address in the API server's certificate.")] = None,
    leader_elect: Annotated[
        bool | None, typer.Option(help="Controllers wait for a lease.  [default: on etcd]", show_default=False)
    ] = None,
    leader_elect_lease_duration: Annotated[float, typer.Option(help="Seconds until a silent leader is replaced.")] = 15,
    leader_elect_renew_deadline: Annotated[float, typer.Option(help="Seconds until a leader that cannot renew gives up.")] = 10,
    leader_elect_retry_period: Annotated[float, typer.Option(help="Seconds between two tries.")] = 2,
    allocate_node_cidrs: Annotated[
        bool, typer.Option("--allocate-node-cidrs", help="Give each node a part of --cluster-cidr.")
    ] = False,
    cluster_cidr: Annotated[str, typer.Option(help="Range of pods' addresses, one per family, with commas.")] = "10.244.0.0/16",
    node_cidr_mask_size: Annotated[int, typer.Option(help="Size of a node's part of an IPv4 range.", min=0, max=32)] = 24,
    split: Annotated[bool, typer.Option("--split", help="One process per part instead of one for all.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Return once it is ready; end it with `setpoint down`.")] = False,
    scheduler_config: Annotated[
        Path | None, typer.Option(help="A KubeSchedulerConfiguration: profiles, plugins, extenders.", show_default=False)
    ] = None,
    token_auth_file: Annotated[
        Path | None, typer.Option(help='Static bearer tokens: token,user,uid,"groups".', show_default=False)
    ] = None,
    anonymous_auth: Annotated[bool, typer.Option(help="Let requests without a credential in as system:anonymous.")] = True,
    authentication_config: Annotated[
        Path | None, typer.Option(help="Kubernetes' AuthenticationConfiguration.", show_default=False)
    ] = None,
    authentication_token_webhook_config_file: Annotated[
        Path | None, typer.Option(help="Kubeconfig of a server that judges tokens.", show_default=False)
    ] = None,
    authorization_config: Annotated[
        Path | None, typer.Option(help="Kubernetes' AuthorizationConfiguration.", show_default=False)
    ] = None,
    admission_control_config_file: Annotated[
        Path | None, typer.Option(help="Kubernetes' AdmissionConfiguration: PodSecurity.", show_default=False)
    ] = None,
    disable_admission_plugins: Annotated[
        str, typer.Option(help="Admission plugins to do without, with commas between.", show_default=False)
    ] = "",
    oidc_issuer_url: Annotated[str, typer.Option(help="Issuer of OpenID Connect tokens.", show_default=False)] = "",
    oidc_client_id: Annotated[str, typer.Option(help="The audience of its tokens.", show_default=False)] = "",
    oidc_username_claim: Annotated[str, typer.Option(help="The claim that is the user's name.")] = "sub",
    oidc_username_prefix: Annotated[str, typer.Option(help="What stands before it; - for nothing.", show_default=False)] = "",
    oidc_groups_claim: Annotated[str, typer.Option(help="The claim that lists groups.", show_default=False)] = "",
    oidc_groups_prefix: Annotated[str, typer.Option(help="What stands before each.", show_default=False)] = "",
    oidc_required_claim: Annotated[list[str] | None, typer.Option(help="key=value that tokens must have.")] = None,
    oidc_ca_file: Annotated[str, typer.Option(help="CA of the issuer's server.", show_default=False)] = "",
    oidc_signing_algs: Annotated[str, typer.Option(help="Accepted algorithms, with commas between.")] = "RS256",
    audit_policy_file: Annotated[str, typer.Option(help="What is recorded of requests.", show_default=False)] = "",
    audit_log_path: Annotated[str, typer.Option(help="Where to; - is standard output.", show_default=False)] = "",
    audit_log_maxsize: Annotated[int, typer.Option(min=0, help="MiB until the audit log is begun anew; 0 is 100.")] = 0,
    audit_log_maxbackup: Annotated[int, typer.Option(min=0, help="How many old audit logs are kept; 0 is all.")] = 0,
    audit_log_maxage: Annotated[int, typer.Option(min=0, help="Days for which they are kept; 0 is for ever.")] = 0,
    encryption_provider_config: Annotated[
        str, typer.Option(help="Kubernetes' EncryptionConfiguration.", show_default=False)
    ] = "",
    encryption_provider_config_automatic_reload: Annotated[
        bool, typer.Option("--encryption-provider-config-automatic-reload", help="Take its changes without a restart.")
    ] = False,
    kubernetes_version: Annotated[str, typer.Option(help="Whose kinds, versions and fields: 1.25 to 1.37.")] = DEFAULT_MINOR,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
    node_monitor_grace_period: Annotated[float, typer.Option(help="Seconds until a silent node is Unknown.")] = 40,
    node_monitor_period: Annotated[float, typer.Option(help="Seconds between two looks at the nodes.")] = 5,
    node_heartbeat_period: Annotated[float, typer.Option(help="Seconds between two heartbeats of a node.")] = 10,
    default_not_ready_toleration_seconds: Annotated[int, typer.Option(help="How long pods stay on a NotReady node.")] = 300,
    default_unreachable_toleration_seconds: Annotated[int, typer.Option(help="How long pods stay on a lost node.")] = 300,
) -> None:
    """Run a cluster on this machine, in the foreground, until Ctrl-C or SIGTERM."""
    options = Options(
        data_dir=(data_dir or default_data_dir()).absolute(),
        host=host,
        port=port,
        kubeconfig=kubeconfig.absolute() if kubeconfig else None,
        merge=merge,
        nodes=0 if only else nodes,
        controllers=only != "apiserver",
        scheduler=only != "apiserver",
        only=only,
        server=server,
        tls_san=tuple(tls_san or ()),
        etcd=Etcd(
            ca_file=_absolute(etcd_cafile),
            certificate_file=_absolute(etcd_certfile),
            key_file=_absolute(etcd_keyfile),
            prefix=etcd_prefix,
        ),
        election=Election(leader_elect, leader_elect_lease_duration, leader_elect_renew_deadline, leader_elect_retry_period),
        runtime=runtime,
        stages=stages.absolute() if stages else None,
        seed=seed,
        pod_network=pod_network,
        store=store,
        node_ranges=_node_ranges(cluster_cidr, node_cidr_mask_size) if allocate_node_cidrs else NodeRanges(),
        split=split,
        token_auth_file=token_auth_file.absolute() if token_auth_file else None,
        scheduler_config=scheduler_config.absolute() if scheduler_config else None,
        authorization_config=_path(authorization_config),
        disabled_plugins=_plugins(disable_admission_plugins),
        admission_config=_path(admission_control_config_file),
        access=Access(
            anonymous=anonymous_auth,
            authentication_config=_path(authentication_config),
            token_webhook=_path(authentication_token_webhook_config_file),
            oidc=Oidc(
                issuer_url=oidc_issuer_url,
                client_id=oidc_client_id,
                username_claim=oidc_username_claim,
                username_prefix=oidc_username_prefix,
                groups_claim=oidc_groups_claim,
                groups_prefix=oidc_groups_prefix,
                required_claims=tuple(oidc_required_claim or ()),
                ca_file=oidc_ca_file,
                signing_algs=tuple(oidc_signing_algs.split(",")),
            ),
        ),
        audit=Audit(
            policy=_absolute(audit_policy_file),
            log=audit_log_path if audit_log_path in ("", "-") else str(Path(audit_log_path).absolute()),
            size=audit_log_maxsize,
            backups=audit_log_maxbackup,
            days=audit_log_maxage,
        ),
        encryption=Encryption(_absolute(encryption_provider_config), encryption_provider_config_automatic_reload),
        timings=Timings(
            lease_seconds=max(1.0, 4 * node_heartbeat_period),
            heartbeat_period=node_heartbeat_period,
            node_monitor_period=node_monitor_period,
            node_monitor_grace=node_monitor_grace_period,
            not_ready_toleration=default_not_ready_toleration_seconds,
            unreachable_toleration=default_unreachable_toleration_seconds,
        ),
        kubernetes_version=kubernetes_version,
    )
    _refuse_contradictions(options)
    from setpoint.app import run

    if detach:
        run.detached(options)
    else:
        run.foreground(options, log_level)


def down(data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept.", show_default=False)] = None) -> None:
    """Stop a cluster that `setpoint up` started, and wait for its end."""
    from setpoint.app import run

    run.stop((data_dir or default_data_dir()).absolute())


def node(
    server: Annotated[str, typer.Option(help="URL of the API server.")],
    ca_file: Annotated[Path, typer.Option(help="The cluster's CA: <data dir>/pki/ca.crt of the server's machine.")],
    token: Annotated[
        str, typer.Option(envvar="SETPOINT_TOKEN", help="Needed the first time; others see it in the list of processes.")
    ] = "",
    token_file: Annotated[Path | None, typer.Option(help="A file that holds it; others do not.", show_default=False)] = None,
    name: Annotated[str, typer.Option(help="The node's name.  [default: the host's]")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept.", show_default=False)] = None,
    pod_network: Annotated[str, typer.Option(help="auto (a network per pod where root may make one) or host.")] = "auto",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Make this machine a node of another machine's cluster, until Ctrl-C or SIGTERM."""
    import socket

    from setpoint.app import run
    from setpoint.app.join import JoinOptions

    chosen = name or socket.gethostname().lower()
    options = Options(data_dir=(data_dir or default_data_dir()).absolute(), nodes=0, pod_network=pod_network)
    if token_file is not None:
        token = _content(token_file)
    run.joined(JoinOptions(server, token, ca_file.absolute(), chosen, options), log_level)


def component(
    name: Annotated[str, typer.Argument(help="apiserver, controllers, or a node's name.")],
    data_dir: Annotated[Path | None, typer.Option(help="Where everything is kept.", show_default=False)] = None,
    log_level: Annotated[str, typer.Option()] = "warning",
) -> None:
    """Run one part of a `--split` cluster as a process of its own (what `up --split` does for each)."""
    from setpoint.app import run

    run.component(name, (data_dir or default_data_dir()).absolute(), log_level)


def _refuse_contradictions(options: Options) -> None:
    """StartError for a value that no part could work with, in terms of the command line."""
    if options.port is not None and not 0 <= options.port <= 65535:
        raise StartError(f"--port {options.port}: choose 0 to 65535")
    _check(options.runtime, ("process", "simulated"), "--runtime")
    if options.runtime != "simulated" and (options.stages is not None or options.seed is not None):
        raise StartError("--stages and --seed are for --runtime simulated")
    _check(options.pod_network, ("auto", "host"), "--pod-network")
    if not options.on_etcd:
        _check(options.store, ("sqlite", "memory", "etcd://…"), "--store")
    if options.only:
        _check(options.only, ("apiserver", "controllers"), "--only")
    election = options.election
    if not election.lease_seconds > election.renew_seconds > election.retry_seconds > 0:
        raise StartError(
            "--leader-elect-lease-duration must be above --leader-elect-renew-deadline, and that above the retry period"
        )
    if options.kubernetes_version != DEFAULT_MINOR:
        _check(options.kubernetes_version, _minors(), "--kubernetes-version")


def _node_ranges(cluster_cidr: str, mask: int) -> NodeRanges:
    """The ranges, which must be some and have parts of that size."""
    import ipaddress

    ranges = tuple(text.strip() for text in cluster_cidr.split(",") if text.strip())
    try:
        networks = [ipaddress.ip_network(text) for text in ranges]
    except ValueError as error:
        raise StartError(f"--cluster-cidr: {error}") from error
    if not networks or any(each.version == 4 and each.prefixlen > mask for each in networks):
        raise StartError(f"--cluster-cidr {cluster_cidr} has no parts of /{mask}")
    return NodeRanges(ranges, mask)


def _plugins(names: str) -> tuple[str, ...]:
    """Names of admission plugins; they are looked up only if there are any."""
    chosen = tuple(name for name in names.split(",") if name)
    if chosen:
        from setpoint.registry.admission.default import ORDER

        for name in chosen:
            _check(name, ORDER, "--disable-admission-plugins")
    return chosen


def _content(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise StartError(f"token file {file}: {error.strerror}") from error


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""


def _path(file: Path | None) -> str:
    return str(file.absolute()) if file else ""


def _minors() -> tuple[str, ...]:
    """The minors of Kubernetes that can be served, known by the packs that came with this package."""
    from setpoint.api.machinery.schema import trees

    return trees.minors()


def _check(value: str, allowed: tuple[str, ...], option: str) -> None:
    if value not in allowed:
        raise StartError(f"{option} {value}: choose one of {', '.join(allowed)}")
