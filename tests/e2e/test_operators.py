"""Operators of others: the examples of kopf's source distribution, unmodified, each in a namespace and a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from msgspec import Struct
from tests.apiserver.webhooks.serving import Certificate

from setpoint.testing.real import Kubectl, eventually

pytestmark = pytest.mark.usefixtures("kinds")
#: example → what its operator must have said, in any order, before the object is deleted, and after
EXAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "01-minimal": (("And here we are! Creating:", "Handler 'create_fn' succeeded"), ()),
    "02-children": (("Handler 'create_fn' succeeded",), ()),
    "03-exceptions": (
        (
            "failed permanently: Fail once and for all.",
            "failed temporarily: Expected recoverable error.",
            "that is supposed to be",
        ),
        (),
    ),
    "04-events": (("Handler 'create_fn' succeeded",), ()),
    "05-handlers": (("CREATED 1st", "CREATED 2nd", "UPDATED", "FIELD CHANGED: value -> changed"), ("DELETED 1st", "DELETED 2nd")),
    "07-subhandlers": (("Handler 'create_fn/item1' succeeded", "Handler 'create_fn/item2' succeeded"), ()),
    "08-events": (("Handler 'event_fn_with_error' failed",), ()),
    "13-hooks": (("Starting retried...", "Activity 'login_fn' succeeded."), ()),
    "14-daemons": (("=> Ping from a sync daemon: field='value', retry=3", "=> Ping from an async daemon"), ()),
    "15-timers": (("Ping from a sync timer: field=",), ()),
}
#: what `make test` takes; `make soak` sets SETPOINT_EXAMPLES=all
QUICK = ("01-minimal", "02-children", "04-events", "05-handlers", "14-daemons")
CHOSEN = tuple(EXAMPLES) if os.environ.get("SETPOINT_EXAMPLES") == "all" else QUICK


class Operator(Struct):
    """A running example."""

    name: str
    namespace: str
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def hears(self, lines: tuple[str, ...], seconds: float = 60) -> None:
        """Wait for lines in its log."""
        deadline = time.monotonic() + seconds
        while missing := [line for line in lines if line not in self.said()]:
            assert self.process.poll() is None, f"{self.name} ended:\n{self.said()[-4000:]}"
            assert time.monotonic() < deadline, f"{self.name} never said {missing}:\n{self.said()[-6000:]}"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution of the installed kopf."""
    folder = tmp_path_factory.mktemp("kopf")
    wanted = f"kopf=={version('kopf')}"
    got = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, wanted],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    archives = [*folder.glob("kopf-*.tar.gz")]
    if not archives:
        pytest.skip(f"no source distribution of kopf at hand: {got.stderr[-300:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(each for each in folder.iterdir() if each.is_dir())


@pytest.fixture(scope="module")
def kinds(kubectl: Kubectl, source: Path) -> None:
    """The examples' custom kinds, peerings included."""
    kubectl("apply", "-f", str(source / "examples" / "crd.yaml"))
    kubectl("wait", "--for=condition=Established", "crd/kopfexamples.kopf.dev", "--timeout=10s")
    definitions = [each for each in yaml.safe_load_all((source / "peering.yaml").read_text()) if each]
    for wanted in ("CustomResourceDefinition", "ClusterKopfPeering", "KopfPeering"):
        chosen = yaml.safe_dump_all([each for each in definitions if each["kind"] == wanted])
        eventually(lambda chosen=chosen: not kubectl.run("apply", "-f", "-", stdin=chosen).returncode)  # type: ignore[misc]  # this round's


@pytest.fixture
def run(kubectl: Kubectl, source: Path, tmp_path: Path) -> Iterator[Callable[..., Operator]]:
    """Starts an example; ends them all, which must be in order."""
    started: list[Operator] = []

    def start(name: str, *options: str, namespace: str = "", also: str = "") -> Operator:
        namespace = namespace or f"kopf-{name}"
        kubectl.run("create", "namespace", namespace)
        log = tmp_path / f"{name}{len(started)}.log"
        command = [sys.executable, "-m", "kopf", "run", "--verbose", "-n", namespace, *options, "example.py", *also.split()]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=source / "examples" / name,
                env={**os.environ, "KUBECONFIG": str(kubectl.kubeconfig), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        started.append(Operator(name, namespace, process, log))
        return started[-1]

    yield start
    for operator in started:
        operator.process.terminate()
    for operator in started:
        operator.process.wait(30)
        kubectl.run("delete", "namespace", operator.namespace, "--wait=false")


def ready(operator: Operator) -> None:
    operator.hears(("Initial authentication has finished.",))


@pytest.mark.timeout(240)
def test_the_examples_run_unmodified(run: Callable[..., Operator], kubectl: Kubectl, source: Path) -> None:
    operators = [run(name, "--standalone") for name in CHOSEN]
    for operator in operators:
        ready(operator)
        kubectl("create", "-n", operator.namespace, "-f", str(source / "examples" / "obj.yaml"))
    handlers = next(each for each in operators if each.name == "05-handlers")
    handlers.hears(("CREATED 2nd",))
    kubectl("patch", "kex", "kopf-example-1", "-n", handlers.namespace, "--type=merge", "-p", '{"spec":{"field":"changed"}}')
    for operator in operators:
        operator.hears(EXAMPLES[operator.name][0])
    minimal = kubectl("get", "kex", "-n", "kopf-01-minimal")
    assert minimal.split()[:8] == ["NAME", "DURATION", "CHILDREN", "MESSAGE", "kopf-example-1", "1m", "<none>", "hello"] or (
        "hello world" in minimal
    )
    child = kubectl("get", "pods", "-n", "kopf-02-children", "-o", "jsonpath={.items[*].metadata.ownerReferences[*].kind}")
    assert child == "KopfExample"
    reasons = kubectl("get", "events", "-n", "kopf-04-events", "-o", "jsonpath={.items[*].reason}")
    assert reasons.split().count("SomeReason") >= 3
    for operator in operators:
        kubectl("delete", "kex", "kopf-example-1", "-n", operator.namespace, "--timeout=40s", seconds=60)
        operator.hears(EXAMPLES[operator.name][1])
    # the child goes with its owner
    eventually(lambda: not kubectl("get", "pods", "-n", "kopf-02-children", "-o", "name"), 60)


@pytest.mark.timeout(120)
def test_of_two_peers_the_more_important_one_works(run: Callable[..., Operator], kubectl: Kubectl, source: Path) -> None:
    space = "kopf-peers"
    peering = {"apiVersion": "kopf.dev/v1", "kind": "KopfPeering", "metadata": {"name": "default", "namespace": space}}
    kubectl("create", "namespace", space)
    kubectl("create", "-f", "-", stdin=yaml.safe_dump(peering))
    low = run("06-peering", "--priority=1", "--peering=default", namespace=space)
    ready(low)
    high = run("06-peering", "--priority=2", "--peering=default", namespace=space)
    low.hears(("Pausing operations in favour of",))
    kubectl("create", "-n", space, "-f", str(source / "examples" / "obj.yaml"))
    high.hears(("Handler 'create_fn' succeeded",))
    assert "Handler 'create_fn' succeeded" not in low.said()
    high.process.terminate()
    high.process.wait(30)
    low.hears(("Resuming operations after the pause",))


#: kopf makes its certificate with a library that is kept up no more; this one gives it another, and changes nothing else
_CERTIFICATE = """
import kopf

@kopf.on.startup()
def certificate(settings, **_):
    settings.admission.server = kopf.WebhookServer(certfile={0!r}, pkeyfile={0!r}, cafile={0!r}, host="127.0.0.1")
"""


@pytest.mark.timeout(120)
def test_the_admission_example_runs_unmodified(
    run: Callable[..., Operator], kubectl: Kubectl, source: Path, tmp_path: Path
) -> None:
    pair = Certificate.made(tmp_path)
    extra = tmp_path / "certificate.py"
    extra.write_text(_CERTIFICATE.format(str(pair.file)))
    operator = run("17-admission", "--standalone", also=str(extra))
    ready(operator)
    space = operator.namespace
    for kind in ("validating", "mutating"):
        eventually(lambda kind=kind: "auto.kopf.dev" in kubectl("get", f"{kind}webhookconfigurations", "-o", "yaml"))  # type: ignore[misc]  # this round's
    obj = yaml.safe_load((source / "examples" / "obj.yaml").read_text())
    obj["spec"]["field"] = "wrong"
    refused = kubectl.run("create", "-n", space, "-f", "-", stdin=yaml.safe_dump(obj))
    assert "denied the request: Meh! I don't like it. Change the field." in refused.stderr
    assert not kubectl.run("create", "-n", space, "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(obj)).returncode
    obj["spec"]["field"] = "not-allowed"
    refused = kubectl.run("create", "-n", space, "-f", "-", stdin=yaml.safe_dump(obj))
    assert "denied the request: I'm too lazy anyway. Go away!" in refused.stderr
    obj["spec"]["field"], obj["metadata"]["labels"] = "right", {"somelabel": "somevalue"}
    made = kubectl.run("create", "-n", space, "-f", "-", stdin=yaml.safe_dump(obj))
    assert "Warning: Accessing as user-agent: kube-apiserver" in made.stderr
    assert kubectl("get", "kex", obj["metadata"]["name"], "-n", space, "-o", "jsonpath={.spec.injected}") == "123"
    for kind in ("validating", "mutating"):
        kubectl("delete", f"{kind}webhookconfiguration", "auto.kopf.dev")
    kubectl("delete", "kex", "--all", "-n", space, "--timeout=30s")


def test_nothing_of_kopf_is_left(kubectl: Kubectl) -> None:
    """The definitions go, with all objects of theirs."""
    kubectl("delete", "kex", "--all", "-A", "--timeout=30s")
    kubectl("delete", "crd", "kopfexamples.kopf.dev", "kopfpeerings.kopf.dev", "clusterkopfpeerings.kopf.dev", "--timeout=30s")
    assert "kopf" not in kubectl("api-resources", "-o", "name")
