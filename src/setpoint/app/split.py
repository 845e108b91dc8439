"""`--split`: API server, controllers with scheduler, and each node agent as processes of their own.

A launcher starts them in order and ends the API server last. It does not restart a part that dies: it says which one died and how
to start it again, so that the death of a part can be watched. The parts find their options in `run/options.json` (no secrets) and
their identity in a kubeconfig of their own.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time

import msgspec

from setpoint.apiserver.pki import write_private
from setpoint.app.data_dir import DataDir
from setpoint.app.options import READY_SECONDS, Options, StartError
from setpoint.app.say import say
from setpoint.kit import garbage, logs
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks

log = logs.get_logger("app.split")

API_SERVER, CONTROLLERS, SIMULATED = "apiserver", "controllers", "nodes"
_STOP_SECONDS = 35.0


async def run_split(options: Options, log_level: str, started_at: float, stop: asyncio.Event) -> None:
    """Start every part, say `ready in …`, and end them all when `stop` is set, even before that; raises StartError."""
    data = DataDir(options.data_dir)
    write_options(data, options)
    data.address_file.unlink(missing_ok=True)
    launcher = Launcher(data, log_level, stop)
    async with Tasks("launcher") as tasks:
        try:
            await launcher.start(tasks, API_SERVER)
            await _until_served(launcher, data)
            await launcher.start(tasks, CONTROLLERS)
            for name in node_parts(options):
                await launcher.start(tasks, name)
            if await _until_ready(launcher, data, options, started_at):
                url = data.address_file.read_text().strip()
                say(f"kubeconfig: {options.kubeconfig or data.admin_kubeconfig}")
                say(f"ready in {time.time() - started_at:.2f} s  {url}")
                garbage.settle()
                launcher.started = True
            await stop.wait()
        finally:
            await launcher.stop()
            tasks.stop()


def node_parts(options: Options) -> tuple[str, ...]:
    """The processes that nodes run in: one each, or one for all simulated ones."""
    if options.runtime == "simulated":
        return (SIMULATED,) if options.nodes else ()
    return options.node_names


class Launcher:
    """The processes of the parts, in the order of their start."""

    def __init__(self, data: DataDir, log_level: str, stop: asyncio.Event) -> None:
        self._data = data
        self._log_level = log_level
        self._stop = stop
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = False
        self.started = False
        self.failed: StartError | None = None

    @property
    def gives_up(self) -> bool:
        """A part failed, or nobody wants the cluster any more: waiting for it to be ready is over."""
        return self.failed is not None or self._stop.is_set()

    async def start(self, tasks: Tasks, name: str) -> None:
        """Start a part, unless it is to end at once; its output is ours."""
        if self._stop.is_set():
            return
        arguments = ["-m", "setpoint", "component", name, "--data-dir", str(self._data.root), "--log-level", self._log_level]
        # a session of its own: Ctrl-C reaches the launcher alone, which ends the parts in order
        child = await asyncio.create_subprocess_exec(sys.executable, *arguments, start_new_session=True)
        self._children[name] = child
        tasks.start(f"wait {name}", self._watch(name, child))

    async def _watch(self, name: str, child: asyncio.subprocess.Process) -> None:
        code = await child.wait()
        if not self._stopping and not self.started:
            self.failed = self.failed or StartError("" if code == 1 else f"{name} ended with code {code}")  # 1: it said why
        elif not self._stopping:
            how = f"setpoint component {name} --data-dir {self._data.root}"
            log.error("a part died", part=name, code=code, start_again=how)

    async def stop(self) -> None:
        """End the parts, side by side, and then what all of them need: the API server."""
        self._stopping = True
        clients = [name for name in self._children if name != API_SERVER]
        for group in (clients, [API_SERVER]):
            await asyncio.gather(*(self._end(self._children[name]) for name in group if name in self._children))

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        if child.returncode is not None:
            return
        child.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()


async def _until_served(launcher: Launcher, data: DataDir) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not data.address_file.exists():
        if launcher.failed:
            raise launcher.failed
        if launcher.gives_up:
            return
        if time.monotonic() > deadline:
            raise StartError("the API server does not start")
        await asyncio.sleep(0.02)


async def _until_ready(launcher: Launcher, data: DataDir, options: Options, started_at: float) -> bool:
    """True when it is, False when it is to end before; raises StartError."""
    from setpoint.app.readiness import until_nodes_ready
    from setpoint.app.remote import connect

    if launcher.gives_up and not launcher.failed:
        return False
    client, transport = connect(data.admin_kubeconfig, "setpoint")
    try:
        ready = await until_nodes_ready(client, options.node_names, started_at, options.ready_seconds, lambda: launcher.gives_up)
    finally:
        await transport.close()
    if not ready and (launcher.failed or not launcher.gives_up):
        raise launcher.failed or StartError("the nodes do not get ready")
    return ready


async def run_component(name: str, options: Options, stop: asyncio.Event) -> None:
    """Run one part until `stop` is set."""
    if name == API_SERVER:
        await _run_api_server(options, stop)
        return
    from setpoint.app import remote

    if name == CONTROLLERS:
        await remote.run_controllers(options, stop)
    elif name == SIMULATED and options.runtime == "simulated":
        await remote.run_simulated(options, stop)
    elif name in options.node_names:
        await remote.run_node(name, options, stop)
    else:
        raise StartError(f"no part is named {name}: choose {API_SERVER}, {CONTROLLERS} or one of {', '.join(options.node_names)}")


async def _run_api_server(options: Options, stop: asyncio.Event) -> None:
    from setpoint.app.api_server import ApiServer
    from setpoint.app.identities import write_component_kubeconfigs

    server = ApiServer(options, RealClock())
    try:
        await server.start(announce=False)
        async with Tasks(API_SERVER) as tasks:
            server.follow(tasks)
            write_component_kubeconfigs(server)
            server.announce()
            garbage.settle()
            await stop.wait()
            tasks.stop()
    finally:
        await server.stop()


def write_options(data: DataDir, options: Options) -> None:
    """Leave the options where the parts find them."""
    write_private(data.root / "run" / "options.json", msgspec.json.encode(options, enc_hook=str))


def read_options(data: DataDir) -> Options:
    """What `write_options` left; raises StartError when there is nothing."""
    try:
        held = (data.root / "run" / "options.json").read_bytes()
        options = msgspec.json.decode(held, type=Options, dec_hook=lambda kind, value: kind(value))
    except (OSError, msgspec.DecodeError):
        raise StartError(f"{data.root} has no cluster: start one with `setpoint up --split`") from None
    return msgspec.structs.replace(options, data_dir=data.root)
