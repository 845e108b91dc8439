"""What guarding the door costs: two servers in one run, one with everything off and one with everything on.

    off   authorisation AlwaysAllow, no admission plugin, no audit
    on    Node and RBAC with 2,000 bindings, every default admission plugin, a quota in the namespace, audit of
          every request at level Metadata

Both take turns, for a user who has one role in one namespace. What remains of the rate is said in per cent, by requests a second
and by processor time for each, which a busy machine changes less.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import wrk
from benchmarks.report import Figure
from benchmarks.scenarios import Bench
from benchmarks.servers import WORKER
from benchmarks.target import NAMESPACE, Target

MODES = {"get": "GET one", "create": "create", "patch": "merge patch", "apply": "server-side apply"}
CONNECTIONS = 16
GOAL = 80.0
_BINDINGS = 2_000
_GROUP = "rbac.authorization.k8s.io"
_AUTHORIZATION = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: AlwaysAllow}]\n"
_AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"


def run(bench: Bench) -> Iterator[Figure]:
    if bench.folder is None:
        return
    off, _ = bench.start("door-off", options=_off(bench.folder))
    with off:
        on, _ = bench.start("door-on", options=_on(bench.folder))
        with on:
            for target in (off, on):
                target.seed()
            _furnish(on, bench.size(_BINDINGS, 20))
            for target in (off, on):
                target.token = WORKER
                wrk.drive(target, "get", CONNECTIONS, 1)  # what is done once is done
            for mode, title in MODES.items():
                yield from _figures(bench, mode, title, (off, on))


def _off(folder: Path) -> tuple[str, ...]:
    from setpoint.registry.admission.default import ORDER

    file = folder / "always-allow.yaml"
    file.write_text(_AUTHORIZATION)
    return ("--authorization-config", str(file), "--disable-admission-plugins", ",".join(ORDER))


def _on(folder: Path) -> tuple[str, ...]:
    file = folder / "audit.yaml"
    file.write_text(_AUDIT)
    return ("--audit-policy-file", str(file), "--audit-log-path", str(folder / "audit.log"))


def _furnish(target: Target, bindings: int) -> None:
    """The worker's role, and what else a cluster has."""
    rbac, namespaced = f"/apis/{_GROUP}/v1", f"/apis/{_GROUP}/v1/namespaces/{NAMESPACE}"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "patch"]}]
    _make(target, f"{namespaced}/roles", {"metadata": {"name": "worker"}, "rules": rules})
    for number in range(bindings):
        user = "worker" if number == bindings // 2 else f"user-{number}"
        subject = {"kind": "User", "name": user, "apiGroup": _GROUP}
        role = {"kind": "Role", "name": "worker", "apiGroup": _GROUP}
        body = {"metadata": {"name": f"binding-{number}"}, "subjects": [subject], "roleRef": role}
        _make(target, f"{namespaced}/rolebindings", body)
    _make(target, f"{rbac}/clusterroles", {"metadata": {"name": "another"}, "rules": rules})
    hard = {"hard": {"pods": "1000", "secrets": "1000"}}
    _make(target, f"/api/v1/namespaces/{NAMESPACE}/resourcequotas", {"metadata": {"name": "quota"}, "spec": hard})


def _make(target: Target, path: str, body: Mapping[str, object]) -> None:
    status, answer = target.call("POST", path, body)
    if status != 201:
        raise RuntimeError(f"{path}: {status} {answer}")


def _figures(bench: Bench, mode: str, title: str, targets: Sequence[Target]) -> Iterator[Figure]:
    """Of two seconds beside each other what the one keeps of the other, with the sides in turns; what is told is the median of
    these. A busy machine is fast and slow for seconds at a time: what both sides have of that must not be taken for a difference.
    """
    pairs: list[tuple[dict[str, float], dict[str, float]]] = []
    errors = 0.0
    for number in range(bench.repeats * max(1, round(bench.seconds))):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        found = {side: wrk.drive(targets[side], mode, CONNECTIONS, 1) for side in order}
        errors += sum(each["errors"] for each in found.values())
        pairs.append((found[0], found[1]))
    for what, key in (("rate", "per_second"), ("by processor time", "cpu_us")):
        kept = [100 * (on[key] / off[key] if key == "per_second" else off[key] / on[key]) for off, on in pairs]
        more = {f"{name} {_UNITS[key]}": statistics.median(pair[side][key] for pair in pairs) for side, name in enumerate(_SIDES)}
        if errors:
            more["ERRORS"] = errors
        yield Figure("door", f"{title}: what remains with everything on, {what}", "%", kept, goal=GOAL, more=more)


_SIDES = ("off", "on")
_UNITS = {"per_second": "/s", "cpu_us": "µs"}
