"""`setpoint up`, `down`, `node`, `component`: the cluster on this machine. Their options are declared in `app.options`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from setpoint.app.options import DEFAULT_MINOR, Join, NodeRanges, Options, Part, Start, StartError, Stop

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add this file's commands."""
    from setpoint.cli import typed

    typed.add(app, up, Start)
    typed.add(app, down, Stop)
    typed.add(app, node, Join)
    typed.add(app, component, Part, hidden=True)


def up(start: Start) -> None:
    """Run a cluster on this machine, in the foreground, until Ctrl-C or SIGTERM."""
    options = _with_consequences(start.options)
    _refuse_contradictions(options)
    from setpoint.app import run

    if start.detach:
        run.detached(options)
    else:
        run.foreground(options, start.log_level)


def down(stop: Stop) -> None:
    """Stop a cluster that `setpoint up` started, and wait for its end."""
    from setpoint.app import run

    run.stop(stop.data_dir)


def node(join: Join) -> None:
    """Make this machine a node of another machine's cluster, until Ctrl-C or SIGTERM."""
    import socket

    from setpoint.app import run
    from setpoint.app.join import JoinOptions

    chosen = join.name or socket.gethostname().lower()
    options = Options(data_dir=join.data_dir, nodes=0, pod_network=join.pod_network)
    token = _content(join.token_file) if join.token_file is not None else join.token
    run.joined(JoinOptions(join.server, token, join.ca_file, chosen, options), join.log_level)


def component(part: Part) -> None:
    """Run one part of a `--split` cluster as a process of its own (what `up --split` does for each)."""
    from setpoint.app import run

    run.component(part.name, part.data_dir, part.log_level)


def _with_consequences(options: Options) -> Options:
    """What follows from what was chosen: which parts run here, and that a node's lease outlasts its heartbeats."""
    alone, timings = options.only == "apiserver", options.timings
    return structs.replace(
        options,
        nodes=0 if options.only else options.nodes,
        controllers=not alone,
        scheduler=not alone,
        timings=structs.replace(timings, lease_seconds=max(1.0, 4 * timings.heartbeat_period)),
    )


def _refuse_contradictions(options: Options) -> None:
    """StartError for a value that no part could work with, in terms of the command line."""
    if options.node_ranges.allocate:
        _check_ranges(options.node_ranges)
    if options.disabled_plugins:
        from setpoint.registry.admission.default import ORDER

        for name in options.disabled_plugins:
            _check(name, ORDER, "--disable-admission-plugins")
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


def _check_ranges(chosen: NodeRanges) -> None:
    """The ranges must be some and have parts of that size."""
    import ipaddress

    try:
        networks = [ipaddress.ip_network(text) for text in chosen.ranges]
    except ValueError as error:
        raise StartError(f"--cluster-cidr: {error}") from error
    if not networks or any(each.version == 4 and each.prefixlen > chosen.mask for each in networks):
        raise StartError(f"--cluster-cidr {chosen.cluster} has no parts of /{chosen.mask}")


def _content(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise StartError(f"token file {file}: {error.strerror}") from error


def _minors() -> tuple[str, ...]:
    """The minors of Kubernetes that can be served, known by the packs that came with this package."""
    from setpoint.api.machinery.schema import trees

    return trees.minors()


def _check(value: str, allowed: tuple[str, ...], option: str) -> None:
    if value not in allowed:
        raise StartError(f"{option} {value}: choose one of {', '.join(allowed)}")
