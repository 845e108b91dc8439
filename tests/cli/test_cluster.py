"""What words after `setpoint up` choose: the same whether typer reads them or the quick reader, and where they are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from setpoint.app import flags, run
from setpoint.app.options import Access, Audit, Etcd, Join, NodeRanges, Oidc, Options, Part, Start, StartError, Stop, Timings
from setpoint.cli import cluster, quick, typed

HERE = Path.cwd()


def _by_typer(words: list[str]) -> Start:
    seen: list[Start] = []

    def up(start: Start) -> None:
        seen.append(start)

    app = typer.Typer(rich_markup_mode=None)
    typed.add(app, up, Start)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return seen[0]


def _quickly(words: list[str]) -> Start | None:
    given = quick.arguments(flags.parameters(Start), words)
    return None if given is None else flags.fill(Start, given)


def _options(**chosen: Any) -> Start:
    return Start(Options(**chosen))


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ("", _options()),
        ("--port 0 --host ::1 --nodes=3", _options(port=0, host="::1", nodes=3)),
        ("--data-dir d --kubeconfig k --merge", _options(data_dir=HERE / "d", kubeconfig=HERE / "k", merge=True)),
        ("--etcd-cafile c --etcd-keyfile /k", _options(etcd=Etcd(ca_file=str(HERE / "c"), key_file="/k"))),
        ("--audit-log-path l --audit-policy-file=", _options(audit=Audit(log=str(HERE / "l")))),
        ("--audit-log-maxsize 3", _options(audit=Audit(size=3))),
        ("--node-heartbeat-period 0.5", _options(timings=Timings(heartbeat_period=0.5))),
        ("--oidc-signing-algs RS256,ES256", _options(access=Access(oidc=Oidc(signing_algs=("RS256", "ES256"))))),
        ("--disable-admission-plugins A,B,", _options(disabled_plugins=("A", "B"))),
        ("--cluster-cidr 10.0.0.0/8", _options(node_ranges=NodeRanges(cluster="10.0.0.0/8"))),
        ("--detach --log-level debug", Start(Options(), detach=True, log_level="debug")),
    ],
)
def test_plain_words_mean_the_same_to_both_readers(words: str, chosen: Start) -> None:
    assert _quickly(words.split()) == chosen
    assert _by_typer(words.split()) == chosen


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ("--no-anonymous-auth", _options(access=Access(anonymous=False))),
        ("--audit-log-path -", _options(audit=Audit(log="-"))),
        ("--tls-san a --tls-san b", _options(tls_san=("a", "b"))),
        ("--oidc-required-claim a=b", _options(access=Access(oidc=Oidc(required_claims=("a=b",))))),
        ("--port 1 --port 2", _options(port=2)),
    ],
)
def test_what_is_not_plain_is_left_to_typer(words: str, chosen: Start) -> None:
    assert _quickly(words.split()) is None
    assert _by_typer(words.split()) == chosen


@pytest.mark.parametrize(
    "words", ["--port x", "--node-cidr-mask-size 33", "--nodes=-1", "--merge yes", "--no-merge", "--port", "--unknown 1", "stray"]
)
def test_what_is_wrong_is_refused_by_typer(words: str) -> None:
    assert _quickly(words.split()) is None
    app = typer.Typer(rich_markup_mode=None)
    typed.add(app, cluster.up, Start)
    assert CliRunner().invoke(app, words.split()).exit_code == 2


def test_a_part_is_named_by_its_place() -> None:
    parameters = flags.parameters(Part)
    assert quick.arguments(parameters, ["node-1", "--log-level", "info"]) == {"name": "node-1", "log_level": "info"}
    assert quick.arguments(parameters, ["--log-level", "info"]) is None


@pytest.mark.parametrize(("environment", "expected"), [({"SETPOINT_TOKEN": "held"}, "held"), ({}, "")])
def test_a_node_takes_its_token_from_the_environment(environment: dict[str, str], expected: str) -> None:
    seen: list[Join] = []

    def node(join: Join) -> None:
        seen.append(join)

    app = typer.Typer()
    typed.add(app, node, Join)
    CliRunner(env=environment).invoke(app, ["--server", "https://a", "--ca-file", "c"])
    assert seen == [Join("https://a", HERE / "c", token=expected)]


def test_the_data_directory_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETPOINT_DATA_DIR", "kept")
    assert flags.fill(Stop, {}).data_dir == HERE / "kept"


def test_help_has_options_under_their_panels() -> None:
    app = typer.Typer(rich_markup_mode=None)
    typed.add(app, cluster.up, Start)
    shown = CliRunner().invoke(app, ["--help"]).output
    assert [line for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
        "Cluster:",
        "Nodes:",
        "Store:",
        "Authentication:",
        "Authorization and admission:",
        "Audit:",
        "Leader election:",
        "Timings:",
        "This command:",
        "Options:",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"port": 65536}, "--port 65536: choose 0 to 65535"),
        ({"runtime": "none"}, "--runtime none: choose one of process, simulated"),
        ({"seed": 1}, "--stages and --seed are for --runtime simulated"),
        ({"node_ranges": NodeRanges(True, "10.0.0.0/28")}, "--cluster-cidr 10.0.0.0/28 has no parts of /24"),
        ({"node_ranges": NodeRanges(True, "")}, "--cluster-cidr  has no parts of /24"),
    ],
)
def test_contradictions_are_told_in_words_of_the_command_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StartError) as refused:
        cluster.up(_options(**options))
    assert str(refused.value) == said


@pytest.mark.parametrize(("only", "runs"), [("", (1, True)), ("apiserver", (0, False)), ("controllers", (0, True))])
def test_what_runs_follows_from_the_one_part(only: str, runs: tuple[int, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Options] = []
    monkeypatch.setattr(run, "foreground", lambda options, _level: seen.append(options))
    cluster.up(_options(only=only, timings=Timings(heartbeat_period=0.5)))
    assert [(each.nodes, each.controllers) for each in seen] == [runs]
    assert [each.scheduler for each in seen] == [runs[1]]
    assert [each.timings.lease_seconds for each in seen] == [2.0]
