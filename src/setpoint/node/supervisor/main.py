"""The supervisor's loop, and the template that forks supervisors.

The agent starts `python -I -S main.py` once: the *template*, which has everything imported and forks a supervisor for each line
`{"dir": …, "pod": …}` on its standard input within a few milliseconds. The template ends with the agent; supervisors stay.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":  # the package's own root: `-I -S` leaves no other way in
    sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)))

from setpoint.node.supervisor import mounts, network, procfs, records
from setpoint.node.supervisor.containers import Containers

LOOK = 5.0  # seconds of silence after which a supervisor looks whether its directory is still there


class Connection:
    """One agent's connection: requests come as lines, with descriptors beside them."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.buffer = b""
        self.descriptors: list[int] = []
        self.subscribed = False

    def receive(self) -> list[dict[str, Any]] | None:
        """The requests that are complete; None at the end."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.channel, 256 * 1024, 16)
        except BlockingIOError:
            return []
        except OSError:
            return None
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # they come inheritable, and every later container would hold them open
        self.descriptors += descriptors
        if not data:
            return None
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines if line]

    def take(self, count: int) -> list[int]:
        taken, self.descriptors = self.descriptors[:count], self.descriptors[count:]
        return taken

    def send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Answers and events are short: a socket that cannot take one whole has a dead or stuck agent, and is given up."""
        data = json.dumps(message).encode() + b"\n"
        try:
            sent = socket.send_fds(self.channel, [data], descriptors)
        except OSError:
            sent = 0
        if sent < len(data):
            with contextlib.suppress(OSError):
                self.channel.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.channel.close()


class Supervisor:
    """Serves one pod until it is told to stop."""

    def __init__(self, directory: str, listener: socket.socket) -> None:
        self.directory = directory
        self.listener = listener
        self.selector = selectors.DefaultSelector()
        self.connections: set[Connection] = set()
        self.running = True
        self.handed: socket.socket | None = None
        self.containers = Containers(directory, self, self._broadcast)

    def watch(self, descriptor: int, reader: Callable[[int], Any], *, writing: bool = False) -> None:
        """Call `reader` with the descriptor whenever it can be read, or written to."""
        os.set_blocking(descriptor, False)
        event = selectors.EVENT_WRITE if writing else selectors.EVENT_READ
        self.selector.register(descriptor, event, lambda: reader(descriptor))

    def unwatch(self, descriptor: int) -> None:
        """Watch it no longer."""
        self.selector.unregister(descriptor)

    def _broadcast(self, event: dict[str, Any]) -> None:
        for connection in self.connections:
            if connection.subscribed:
                connection.send(event)

    def run(self) -> None:
        wake, wake_writer = os.pipe()
        for descriptor in (wake, wake_writer):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, lambda: self._children(wake))
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        while self.running:
            ready = self.selector.select(LOOK)
            if not ready and not os.path.exists(os.path.join(self.directory, records.SUPERVISOR)):
                self._stop()  # the node's directory was thrown away: nobody will ever come for this pod
            for key, _ in ready:
                if self.selector.get_map().get(key.fd) is key:  # an earlier reader of this round may have ended it
                    self._call(key.data)

    def _call(self, reader: Callable[[], Any]) -> None:
        """What goes wrong for one stream, child or client (a full disk, say) must not end the pod's other containers."""
        try:
            reader()
        except Exception:  # noqa: BLE001  # the one place where a reader's errors end
            import traceback

            traceback.print_exc()

    def _children(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)
        self.containers.reap()

    def _accept(self) -> None:
        try:
            channel, _ = self.listener.accept()
        except OSError:
            return
        channel.setblocking(False)
        connection = Connection(channel)
        self.connections.add(connection)
        self.selector.register(channel, selectors.EVENT_READ, lambda: self._serve(connection))

    def _serve(self, connection: Connection) -> None:
        requests = connection.receive()
        if requests is None:
            self.selector.unregister(connection.channel)
            self.connections.discard(connection)
            connection.close()
            return
        for request in requests:
            try:
                answer, descriptors = self._handle(connection, request)
            except (OSError, LookupError, ValueError, TypeError) as error:
                answer, descriptors = {"error": str(error) or type(error).__name__, "kind": type(error).__name__}, ()
            connection.send({"id": request.get("id"), "descriptors": len(descriptors), **answer}, descriptors)
            if self.handed is not None:
                self.handed.close()
                self.handed = None

    def _handle(self, connection: Connection, request: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
        do = request["do"]
        if do == "start":
            return {"container": self.containers.start(request["container"])}, ()
        if do == "exec":
            return self._exec(connection.take(3), request), ()
        if do == "attach":
            stdin = self.containers.attach(request["container"], *connection.take(2))
            once = self.containers.by_id[request["container"]].stdin_once
            return {"stdinOnce": once}, (stdin,) if stdin >= 0 else ()
        if do == "close-stdin":
            self.containers.close_stdin(request["container"])
        elif do == "kill-exec":
            self.containers.kill_exec(request["exec"])
        elif do == "signal":
            self.containers.signal(request["container"], request["signal"])
        elif do == "remove":
            self.containers.remove(request["container"])
        elif do == "list":
            connection.subscribed = connection.subscribed or bool(request.get("subscribe"))
            return {"containers": [container.record for container in self.containers.by_id.values()]}, ()
        elif do == "listen":
            return self._listen(request)
        elif do == "socket":
            return self._socket(request)
        elif do == "pids":
            return {"pids": procfs.descendants(os.getpid())}, ()
        elif do == "stop":
            self._stop()
        else:
            raise ValueError(f"unknown request {do!r}")
        return {}, ()

    def _exec(self, descriptors: list[int], request: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"pid": self.containers.exec(request, descriptors)}
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _listen(self, request: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """A listener in the pod's network, handed over; it is the agent's from then on and ends with it."""
        self.handed = network.listen(request["address"], request["port"])
        return {}, (self.handed.fileno(),)

    def _socket(self, request: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """A socket that connects to what is in the pod's network, wherever it is used; and which network that is."""
        family = socket.AF_INET6 if request["family"] == 6 else socket.AF_INET
        self.handed = socket.socket(family, socket.SOCK_STREAM)
        return {"network": procfs.network()}, (self.handed.fileno(),)

    def _stop(self) -> None:
        self.containers.kill_all()
        self.containers.reap()
        self.running = False


def _supervise(directory: str, pod: str, listener: socket.socket) -> None:
    """Become the supervisor of one pod; never returns to the template's loop."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    log = os.open(os.path.join(directory, "supervisor.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(log, 2)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only the agent ends a pod, or SIGKILL
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if sys.platform == "linux":
        mounts.prctl(mounts.PR_SET_CHILD_SUBREAPER, 1)
    supervisor = Supervisor(directory, listener)
    identity = {"pid": os.getpid(), "startTicks": procfs.start_ticks(os.getpid()), "bootID": procfs.boot_id(), "pod": pod}
    records.write(os.path.join(directory, records.SUPERVISOR), identity)
    supervisor.run()
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(directory, records.SOCKET))


def _listen(directory: str) -> socket.socket:
    """The pod's socket, bound by a short path whatever the directory's length is."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(directory)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(records.SOCKET)
    listener.bind(records.SOCKET)
    os.chmod(records.SOCKET, 0o600)
    listener.listen(16)
    os.chdir("/")
    return listener


def _fork(request: dict[str, Any]) -> dict[str, Any]:
    """Fork a supervisor, in a network of its own where the request describes one; raises OSError when that cannot be made."""
    listener = _listen(request["dir"])
    wanted = request.get("network")
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        with listener, ours:
            if wanted:
                network.connect_peer(wanted["bridge"], wanted["address"], pid, ours)
        return {"pid": pid}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        ours.close()
        with theirs:
            if wanted:
                network.join_peer(wanted["bridge"], wanted["address"], wanted["also"], theirs, out=wanted["out"])
        _supervise(request["dir"], request["pod"], listener)
        code = 0
    except BaseException:  # noqa: BLE001  # the last word of a supervisor goes to its log, and it must not become a template
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _check(request: dict[str, Any]) -> dict[str, Any]:
    from setpoint.node.supervisor.detect import detect

    return {"isolation": detect(request["wanted"], request["bubblewrap"])}


def _network(request: dict[str, Any]) -> dict[str, Any]:
    """Make or remove the node's bridge, or the host's end of a pod's pair."""
    if request["do"] == "prepare":
        return {"bridge": network.bridge_name(request["dir"]), "range": network.prepare(request["dir"], request["wanted"])}
    if request["do"] == "disconnect":
        network.disconnect(request["bridge"], request["address"])
    else:
        network.remove(request["dir"])
    return {}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if "check" in request:
        return _check(request["check"])
    return _network(request["net"]) if "net" in request else _fork(request)


def template() -> None:
    """Fork a supervisor for each line of standard input (or try isolation out), until it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended supervisors need no reaping here
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = _answer(request)
        except OSError as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    template()
