"""The parts besides the API server, each from a client of its own identity; the same in one process and in several."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from setpoint.app.options import SERVICE_RANGE, Options, StartError
from setpoint.client.client import Client
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.apiserver.authentication.signing_key import SigningKey
    from setpoint.apiserver.pki import Authority, KeyPair
    from setpoint.controllers.certificates.requests import Signer
    from setpoint.controllers.manager import ControllerManager
    from setpoint.node.agent import Agent
    from setpoint.node.runtimes.process.template import Template
    from setpoint.node.simulated.fleet import Declared, SimulatedNodes


class Runnable(Protocol):
    """A part: `run` works until it is cancelled."""

    async def run(self) -> None: ...


def controller_manager(
    options: Options, authority: Authority, client: Client, clock: Clock, clients: Callable[[str], Client] | None = None
) -> ControllerManager:
    """Every controller of the table, each with a client of its own (`clients`, by the controller's name)."""
    from setpoint.controllers.component import NodeTimings, Settings
    from setpoint.controllers.manager import ControllerManager

    timings = options.timings
    nodes = NodeTimings(monitor_period=timings.node_monitor_period, monitor_grace=timings.node_monitor_grace)
    settings = Settings(
        cluster_ca=authority.pem,
        signer=signer(authority, options.server),
        token_signer=token_signer(authority),
        nodes=nodes,
        volumes=options.data_dir.absolute() / "volumes" if options.has_nodes else None,
        pod_ranges=options.node_ranges.ranges,
        service_ranges=(SERVICE_RANGE,),
        node_mask=options.node_ranges.mask,
    )
    return ControllerManager(client, clock, settings, clients=clients)


def token_signer(authority: Authority) -> Callable[[str, str, str, str], str]:
    """What signs the tokens that Secrets hold: the service accounts' key, which lies beside the CA."""

    @cache  # made at the first signature: until then the API server may be making the key
    def key() -> SigningKey:
        from setpoint.apiserver.authentication.signing_key import SigningKey

        return SigningKey(authority.directory)

    def sign(namespace: str, account: str, uid: str, secret: str) -> str:
        from setpoint.apiserver.authentication.legacy_tokens import LegacyClaims, sign

        return sign(key(), LegacyClaims(namespace, account, uid, secret))

    return sign


def signer(authority: Authority, server: str = "") -> Signer:
    """What signs nodes' certificates: the cluster's CA. `server` is the URL of an API server elsewhere, if there is one."""
    from setpoint.controllers.certificates.requests import Requested, Signer

    def read(pem: bytes) -> Requested:
        from setpoint.apiserver.signing import requested

        name, groups, names = requested(pem)
        return Requested(name, groups, names["dns"], names["ip"], names["email"], names["uri"])

    def expires(pem: bytes) -> float:
        from setpoint.apiserver.signing import lifetime

        return lifetime(pem)[1]

    def servers() -> frozenset[str]:
        """By the certificate of the API server of this directory, where there is one, and the URL."""
        from urllib.parse import urlsplit

        from setpoint.apiserver.signing import names_of

        named = frozenset({urlsplit(server).hostname or ""} - {""})
        try:
            return named | names_of((authority.directory / "apiserver.crt").read_bytes())
        except OSError:
            return named

    return Signer(read, authority.sign_request, expires, servers)


def node_agent(  # noqa: PLR0913  what an agent is made of comes from as many parts
    options: Options,
    name: str,
    serving: KeyPair,
    ca: Path,
    url: str,
    client: Client,
    clock: Clock,
    *,
    address: str = "127.0.0.1",
    template: Template | None = None,
) -> Agent:
    """One node of this machine, with processes as containers; the API server reaches its port at `address`."""
    from urllib.parse import urlsplit

    from setpoint.node.agent import Agent, process_runtime
    from setpoint.node.options import AgentOptions

    timings, where = options.timings, urlsplit(url)
    chosen = AgentOptions(
        name=name,
        directory=options.data_dir / "nodes" / name,
        address=address,
        pod_cidr=pod_range(options.node_names.index(name) if name in options.node_names else 0),
        pod_network=options.pod_network,
        serving_certificate=serving.certificate,
        serving_key=serving.key,
        ca=ca,
        api_host=where.hostname or "127.0.0.1",
        api_port=where.port or 443,
        lease_seconds=timings.lease_seconds,
        heartbeat_period=timings.heartbeat_period,
        status_report_period=timings.status_report_period,
    )
    return Agent(chosen, client, clock, process_runtime(chosen, template))


def templates(options: Options) -> dict[str, Template]:
    """What the supervisors of each node's pods are forked from, not yet started."""
    if options.runtime != "process":
        return {}
    from setpoint.node.runtimes.process.template import Template

    return {name: Template() for name in options.node_names}


def pod_range(index: int) -> str:
    """A node's part of 127.64.0.0/10: 64 nodes of 65,534 pods each, and then from the start again."""
    return f"127.{64 + index % 64}.0.0/16"


def simulated_nodes(options: Options, client: Client, clients: Callable[[str], Client], clock: Clock) -> SimulatedNodes:
    """All nodes of the cluster in one part, without processes. Raises StartError for stages that cannot be used."""
    import random

    from setpoint.node.simulated.chance import Chance
    from setpoint.node.simulated.durations import StageError
    from setpoint.node.simulated.fleet import Beats, SimulatedNodes
    from setpoint.node.simulated.node_objects import NodeSpec
    from setpoint.node.simulated.stages import Stages

    seed = random.randrange(2**32) if options.seed is None else options.seed  # noqa: S311  # keeps no secret
    stages: Declared = Stages()
    if options.stages is not None:
        from setpoint.node.simulated.declared import load

        try:
            stages = load(options.stages, Chance(seed), clock)
        except StageError as error:
            raise StartError(str(error)) from error
    specs = [NodeSpec(name) for name in options.node_names]
    lease = max(1, round(options.timings.lease_seconds))
    chance = random.Random(seed)  # noqa: S311  # a seed makes it repeat itself
    return SimulatedNodes(client, clock, specs, stages=stages, clients=clients, beats=Beats(lease), rng=chance)


def scheduler(options: Options, client: Client, clock: Clock) -> Runnable:
    """The scheduler, with its own informers. Raises StartError for a configuration that cannot be used."""
    from setpoint.scheduler.scheduler import Scheduler

    if options.scheduler_config is None:
        return Scheduler(client, clock)
    from setpoint.scheduler.config import ConfigError, load
    from setpoint.scheduler.registry import PluginError

    try:
        return Scheduler(client, clock, load(options.scheduler_config))
    except (ConfigError, PluginError) as error:
        raise StartError(str(error)) from error


def controllers_loop(
    options: Options, authority: Authority, client: Client, clock: Clock, clients: Callable[[str], Client] | None = None
) -> Callable[[], Awaitable[None]]:
    """The controller manager as a loop: at once, or whenever its lease is ours."""

    def make() -> Runnable:
        return controller_manager(options, authority, client, clock, clients)

    if not options.elects:
        return make().run
    from setpoint.app.election import CONTROLLER_MANAGER, elected

    return elected(CONTROLLER_MANAGER, make, client, clock, options.election)


def scheduler_loop(options: Options, client: Client, clock: Clock) -> Callable[[], Awaitable[None]]:
    """The scheduler as a loop: at once, or whenever its lease is ours."""

    def make() -> Runnable:
        return scheduler(options, client, clock)

    if not options.elects:
        return make().run
    from setpoint.app.election import SCHEDULER, elected

    return elected(SCHEDULER, make, client, clock, options.election)
