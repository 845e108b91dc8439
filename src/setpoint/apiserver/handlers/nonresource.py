"""What is no resource: `/version`, health checks, `/metrics`, the index of paths.

Source: apiserver `server/healthz`, `server/routes`. Health answers to every method; the checks of `/livez` and `/readyz` can be
asked for one by one, and left out with `exclude`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import method_not_allowed, not_acceptable
from setpoint.apiserver.request import Request, Response, json_response, text_response
from setpoint.apiserver.routing import not_served
from setpoint.kit import logs, metrics

log = logs.get_logger("apiserver.health")

#: says what is wrong, or nothing when all is well
Probe = Callable[[], str]
_READY_ONLY = frozenset({"etcd-readiness", "informer-sync", "shutdown"})
#: the steps of a start under the names that kube-apiserver gives them, in its order; scripts ask for them one by one
_STEPS = (
    *(
        f"poststarthook/{name}"
        for name in (
            "start-apiserver-admission-initializer",
            "generic-apiserver-start-informers",
            "priority-and-fairness-config-consumer",
            "priority-and-fairness-filter",
            "storage-object-count-tracker-hook",
            "start-apiextensions-informers",
            "start-apiextensions-controllers",
            "crd-informer-synced",
            "start-system-namespaces-controller",
            "peer-endpoint-reconciler-controller",
            "start-cluster-authentication-info-controller",
            "start-kube-apiserver-identity-lease-controller",
            "start-kube-apiserver-identity-lease-garbage-collector",
            "storage-readiness",
            "start-legacy-token-tracking-controller",
            "start-service-ip-repair-controllers",
            "rbac/bootstrap-roles",
            "scheduling/bootstrap-system-priority-classes",
            "priority-and-fairness-config-producer",
            "bootstrap-controller",
            "start-kubernetes-service-cidr-controller",
            "start-kube-aggregator-informers",
            "apiservice-status-local-available-controller",
            "apiservice-status-remote-available-controller",
            "apiservice-registration-controller",
            "apiservice-wait-for-first-sync",
            "apiservice-discovery-controller",
            "kube-apiserver-autoregistration",
        )
    ),
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)


class Health:
    """Named checks. `add` gives one more; `shutting_down` makes the server not ready while it still answers."""

    def __init__(self) -> None:
        self.started = True
        self.shutting_down = False
        self._probes: dict[str, Probe] = {
            "ping": lambda: "",
            "log": lambda: "",
            "loopback-serving-certificate": lambda: "",
            "etcd": lambda: "",
            "etcd-readiness": lambda: "",
            "informer-sync": self._has_started,
            **dict.fromkeys(_STEPS, self._has_started),
            "shutdown": lambda: "process is shutting down" if self.shutting_down else "",
        }

    def add(self, name: str, probe: Probe) -> None:
        """Check `name` from now on; replaces a check of that name."""
        self._probes[name] = probe

    def _has_started(self) -> str:
        return "" if self.started else "not finished"

    def checks(self, path: str) -> Mapping[str, Probe]:
        """The checks behind `/healthz`, `/livez` or `/readyz`."""
        if path == "/readyz":
            return self._probes
        return {name: probe for name, probe in self._probes.items() if name not in _READY_ONLY}

    async def handle(self, request: Request) -> Response:
        """Answer one of the three paths, or one check below it."""
        path, _, name = request.path.removeprefix("/").partition("/")
        checks = self.checks(f"/{path}")
        if not name:
            if request.path.endswith("/"):
                return text_response("404 page not found\n", 404)
            return self._all(f"/{path}", checks, request)
        probe = checks.get(name)
        if probe is None:
            return text_response("404 page not found\n", 404)
        if why := probe():
            return text_response(f"internal server error: {why}\n", 500)
        return text_response("ok")

    @staticmethod
    def _all(path: str, checks: Mapping[str, Probe], request: Request) -> Response:
        excluded = list(dict.fromkeys(request.query.get("exclude") or ()))
        lines, failed = [], []
        for name, probe in checks.items():
            if name in excluded:
                lines.append(f"[+]{name} excluded: ok")
            elif why := probe():
                failed.append(f"{name}: {why}")
                lines.append(f"[-]{name} failed: reason withheld")
            else:
                lines.append(f"[+]{name} ok")
        if unknown := [name for name in excluded if name not in checks]:
            listed = ", ".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {listed}")
        word = path[1:]
        if failed:
            log.info("health check failed", path=path, checks=failed)
            return text_response("\n".join([*lines, f"{word} check failed\n"]), 500)
        if "verbose" not in request.query:
            return text_response("ok")
        return text_response("\n".join([*lines, f"{word} check passed\n\n"]).removesuffix("\n"))


class Version:
    """`/version`: the Kubernetes version whose API this server speaks."""

    def __init__(self, minor: str, release: str) -> None:
        major, _, small = minor.partition(".")
        self._document = {
            "major": major,
            "minor": small,
            "emulationMajor": major,
            "emulationMinor": small,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": str(int(small) - 1),
            "gitVersion": f"v{minor}.0+setpoint.{release}",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": f"python{platform.python_version()}",
            "compiler": platform.python_implementation().lower(),
            "platform": f"{platform.system().lower()}/{_ARCHITECTURES.get(platform.machine(), platform.machine())}",
        }

    async def handle(self, request: Request) -> Response:
        if request.path.rstrip("/") != "/version":
            raise not_served()
        if request.method != "GET":
            raise method_not_allowed()
        accept = request.header("accept")
        if accept and not any(part.partition(";")[0].strip() in ("*/*", "application/json") for part in accept.split(",")):
            error = not_acceptable("406: Not Acceptable\n\nAvailable representations: application/json")
            error.details = {}
            raise error
        return json_response(self._document)


_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class MetricsPages:
    """`/metrics` in Prometheus' text format, and `/metrics/slis`: the health checks as numbers (KEP-3466)."""

    def __init__(self, health: Health) -> None:
        self._health = health

    async def handle(self, request: Request) -> Response:
        pages = {"/metrics": metrics.exposition, "/metrics/slis": self._checks}
        page = pages.get(request.path)
        if page is None:
            return text_response("404 page not found\n", 404)
        return Response(200, {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}, page())

    def _checks(self) -> bytes:
        lines = ["# HELP kubernetes_healthcheck Whether a health check succeeds.", "# TYPE kubernetes_healthcheck gauge"]
        for path in ("/healthz", "/livez", "/readyz"):
            for name, probe in self._health.checks(path).items():
                value = 0 if probe() else 1
                lines.append(f'kubernetes_healthcheck{{name="{name}",type="{path[1:]}"}} {value}')
        return "\n".join([*lines, ""]).encode()


class Index:
    """`/` and `/index.html`: every path there is."""

    def __init__(self, paths: Callable[[], Sequence[str]]) -> None:
        self._paths = paths

    async def handle(self, request: Request) -> Response:
        if request.path not in ("/", "/index.html"):
            return text_response("404 page not found\n", 404)
        document: dict[str, Any] = {"paths": sorted(self._paths())}
        return json_response(document)
