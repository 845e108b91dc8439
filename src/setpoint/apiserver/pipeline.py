"""The request pipeline: from a Request to a Response, whatever carried it.

Order: route → audit → impersonate → flow control → authorise → handler. Every StatusError becomes its Status; any other error is
a 500 with its traceback in the log. Authentication has been done by the carrier, which knows the credentials.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from setpoint import __version__
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError, internal_error
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver import answers, connecting, impersonation, large_yaml, negotiation, unstored
from setpoint.apiserver.authentication import complaint
from setpoint.apiserver.authorization.decision import Decision, Rules
from setpoint.apiserver.bodies import Bodies, Schemas
from setpoint.apiserver.call import Call
from setpoint.apiserver.flow_control.control import FlowControl, Refused
from setpoint.apiserver.generic_store.objects import Canonical, api_version
from setpoint.apiserver.generic_store.store import GenericStore, NoAdmission, unavailable
from setpoint.apiserver.handlers.nonresource import Health, Index, MetricsPages, Version
from setpoint.apiserver.handlers.subresources.token import Issuer
from setpoint.apiserver.measure import Measure
from setpoint.apiserver.options import check_timeout
from setpoint.apiserver.request import Request, Response, text_response
from setpoint.apiserver.routing import RequestInfo, Router, Unknown, parse
from setpoint.apiserver.webhooks.client import WebhookClient
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.deadlines import Deadlines
from setpoint.registry.admission.request import Admission
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object
from setpoint.storage.protocol import Store, StoreError

log = logs.get_logger("apiserver.pipeline")

Handler = Callable[[Call], Awaitable[Response]]
RouteHandler = Callable[[Request], Awaitable[Response]]
Serve = Callable[[Request, RequestInfo], Awaitable[Response]]

#: seconds that a request may take if it is no watch and takes over no connection
REQUEST_TIMEOUT = 60.0
#: Kubernetes' words for a request that failed on a fault of the server's own (apiserver `server/filters/wrap.go`)
_PANIC = "This request caused apiserver to panic. Look in the logs for details."
#: subresources that take over a connection, and those that may take as long as they want
_CONNECTING = ("exec", "attach", "portforward", "proxy")
_LONG = ("exec", "attach", "portforward", "proxy", "log")
#: verbs whose handler is a module of another name
_MODULES = {"deletecollection": "delete_collection"}
#: resources that are never stored → the module and function that answer
_VIRTUAL = {
    "bindings": ("subresources.binding", "handle"),
    "componentstatuses": ("component_status", "handle"),
    "selfsubjectreviews": ("reviews", "self_subject"),
    "selfsubjectaccessreviews": ("reviews", "self_access"),
    "selfsubjectrulesreviews": ("reviews", "self_rules"),
    "subjectaccessreviews": ("reviews", "subject_access"),
    "localsubjectaccessreviews": ("reviews", "subject_access"),
}


class Authorizer(Protocol):
    """`authorize` raises StatusError 403 to refuse; the others answer what somebody may."""

    async def authorize(self, request: Request, info: RequestInfo) -> None: ...
    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision: ...
    def rules_for(self, user: UserInfo, namespace: str) -> Rules: ...


class Audit(Protocol):
    """Records what was asked and answered: `around` calls the rest of the pipeline, `refused` is told of strangers."""

    def around(self, request: Request, info: RequestInfo, rest: Serve) -> Coroutine[Any, Any, Response]: ...
    def refused(self, request: Request, info: RequestInfo, response: Response) -> None: ...


class Follower(Protocol):
    """Serves what objects in the store say: `load` does so once, before the first request; `run` follows them, for ever."""

    async def load(self) -> None: ...
    async def run(self) -> None: ...


class Pipeline:
    """Serves `resources` from `store`.

    `mount(prefix, handler)` adds what is no resource (discovery, OpenAPI, health); `subresource(name, handler)` what is a
    subresource with a handler of its own (exec, logs, token).
    """

    def __init__(
        self,
        resources: Iterable[ServedResource],
        store: Store,
        clock: Clock,
        *,
        schemas: Schemas | None = None,
        admission: Admission | None = None,
        authorizer: Authorizer | None = None,
        issuer: Issuer | None = None,
        minor: str = "1.36",
    ) -> None:
        self.clock = clock
        self.store = store
        self.router = Router()
        self.bodies = Bodies(schemas, trim=minor != "1.36")
        self.admission: Admission = admission or NoAdmission()
        self.authorizer = authorizer
        self.issuer = issuer
        self.measure = Measure(self.router.names)
        self.flow_control = FlowControl(store, clock)
        self.audit: Audit | None = None
        self._impersonation = impersonation.Impersonation()
        self._deadlines = Deadlines(REQUEST_TIMEOUT)
        self._large_yaml = large_yaml.LargeYaml()
        self.stores: dict[tuple[str, str], GenericStore] = {}
        self._handlers: dict[str, Handler] = {}
        self._subresources: dict[str, Handler] = {}
        self._virtual: dict[str, Handler] = {}
        self._mounts: dict[str, RouteHandler] = {}
        self.health = Health()
        self.followers: list[Follower] = []
        #: who answers for a group's version that another server serves
        self.aggregated: Mapping[tuple[str, str], RouteHandler] = {}
        #: who does so for a group's version that is served here without being stored, unless another server does
        self.built_in: dict[tuple[str, str], RouteHandler] = {}
        self.webhooks = WebhookClient(store)
        self.on_close: list[Callable[[], Awaitable[None]]] = [self.webhooks.close]
        self._mount_own(minor)
        for resource in resources:
            self.serve(resource)

    # --- composition ---

    def serve(self, resource: ServedResource, only: Sequence[str] | None = None) -> None:
        """Add a resource, or replace one; `only` in some of its versions (a custom kind has a row for each)."""
        store = GenericStore(resource, self.store, self.clock, self.admission, self._canonical(resource))
        self.stores[resource.group, resource.plural] = store
        self.bodies.know(resource)
        self.router.add(resource, store, resource.versions if only is None else only)

    def _canonical(self, resource: ServedResource) -> Canonical:
        """What brings an object of one of a resource's versions into canonical form, the stored one included."""
        versions = {api_version(resource, version): version for version in resource.versions}

        def canonical(obj: Object, wanted: str, settled: Mapping[str, Any]) -> Object:
            version = versions.get(wanted)
            if version is not None:
                return self.bodies.canonical(obj, resource, version, settled)
            owner = self.owner(resource)
            return self.bodies.canonical(obj, owner, owner.storage_version, settled)

        return canonical

    def owner(self, resource: ServedResource) -> ServedResource:
        """The resource in whose form objects are stored: another group's where two groups serve one collection (events)."""
        if not resource.stored_as:
            return resource
        plural, _, group = resource.stored_as.partition(".")
        return self.stores[group, plural].resource

    def stored_node(self, resource: ServedResource) -> Node | None:
        """The schema of the stored form."""
        owner = self.owner(resource)
        return self.bodies.node(owner, owner.storage_version)

    def withdraw(self, resource: ServedResource) -> None:
        """Stop serving a resource."""
        self.stores.pop((resource.group, resource.plural), None)
        self.router.remove(resource)

    def mount(self, prefix: str, handler: RouteHandler) -> None:
        """Answer `prefix` and everything below it that is no resource; the longest prefix wins."""
        self._mounts[prefix.rstrip("/") or "/"] = handler

    def _mount_own(self, minor: str) -> None:
        for path in ("/healthz", "/livez", "/readyz"):
            self.mount(path, self.health.handle)
        self.mount("/version", Version(minor, __version__).handle)
        self.mount("/metrics", MetricsPages(self.health).handle)
        self.mount("/", Index(self.paths).handle)

    def paths(self) -> list[str]:
        """Every path that answers GET, as the index lists them."""
        served = {
            f"/apis/{each.resource.group}/{each.version}" if each.resource.group else f"/api/{each.version}"
            for each in self.router.served()
        }
        groups = {path.rpartition("/")[0] for path in served}
        checks = {f"{path}/{name}" for path in ("/healthz", "/livez", "/readyz") for name in self.health.checks(path)}
        openapi = ("/openapi/v2", "/openapi/v3", "/openapi/v3/")
        mounts = {path for path in self._mounts if not path.startswith("/debug/")}
        return sorted({*served, *groups, *checks, *mounts, *openapi} - {"/", "/openapi"} | {"/apis", "/apis/"})

    def subresource(self, name: str, handler: Handler) -> None:
        """The handler of a subresource: `exec`, or `pods/exec` for one resource alone."""
        self._subresources[name] = handler

    def virtual(self, plural: str, handler: Handler) -> None:
        """The handler of a resource that is never stored."""
        self._virtual[plural] = handler

    async def close(self) -> None:
        """End what is connected to others, when no more requests come."""
        for end in self.on_close:
            await end()

    # --- requests ---

    def handle(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Answer a request; raises nothing but cancellation."""
        info = parse(request)
        answer = self._serve(request, info) if self.audit is None else self.audit.around(request, info, self._serve)
        return _forgetting(answer, request.body) if large_yaml.concerns(request) else answer

    async def _serve(self, request: Request, info: RequestInfo) -> Response:
        started = self.clock.monotonic()
        warnings = _unheard(request) if request.user is ANONYMOUS else []
        try:
            response = await self._dispatch(request, info, warnings)
        except StatusError as error:
            response = answers.error_answer(request, error, [*warnings, *error.warnings])
        except Refused as refused:
            response = refused.response
        except Unknown:
            response = text_response("404 page not found\n", 404)
        except StoreError as error:
            response = answers.error_answer(request, unavailable(error), warnings)
        except TimeoutError:
            response = answers.error_answer(request, _timed_out(), warnings)
        except Exception as error:  # the one place where a request's unexpected errors end
            log.exception("request failed", method=request.method, path=request.path)
            info.panic = str(error) or type(error).__name__  # for the audit log alone: it may quote what the client may not see
            response = answers.error_answer(request, internal_error(_PANIC), warnings)
        seconds = self.clock.monotonic() - started
        if info.flow is not None:
            response.headers, response.level = info.flow.headers(response.headers), info.flow.level.name
            info.flow.execution.observe(seconds)
        self.measure.observe(info, response.status, seconds)
        return response

    async def _dispatch(self, request: Request, info: RequestInfo, warnings: list[str]) -> Response:
        if "timeout" in request.query and info.verb != "watch":
            check_timeout(request.query)
        if impersonation.asked(request.headers):
            await self._impersonation.apply(request, info, self.authorizer)
        entered = self.flow_control.enter(request, info) or await self.flow_control.admit(request, info)
        try:
            response = await self._authorized(request, info, warnings)
        finally:
            entered.leave()
        if info.verb == "watch":
            self.flow_control.opened(request, info, response)
        return response

    async def _authorized(self, request: Request, info: RequestInfo, warnings: list[str]) -> Response:
        if self.authorizer is not None:
            await self.authorizer.authorize(request, info)
        if (self.aggregated or self.built_in) and (elsewhere := self._elsewhere(info)) is not None:
            if _takes_long(request, info):
                return await elsewhere(request)
            with self._deadlines:  # else servers that never answer would take all seats
                return await elsewhere(request)
        if not info.is_resource or not self.router.knows(info.group):
            return await self._mounted(request)
        target = self.router.target(request, info)
        served, resource = target.served, target.served.resource
        if served.deprecation:
            warnings.append(served.deprecation)
        custom = resource.custom
        if custom is not None:
            negotiation.check_known(request, stream=info.verb == "watch")
        call = Call(request, info, served, resource, served.version, served.store, self, target.subresource, warnings=warnings)
        handler = self._handler(call)
        if custom is not None and custom.around is not None:
            handler = custom.around(handler)
        if large_yaml.concerns(request):
            with self._deadlines:
                await self._large_yaml.read(request.body)
        if info.subresource in _CONNECTING:
            await connecting.admit(call)
        elif call.resource.virtual and info.verb == "create":
            await unstored.admit(call)
        if info.verb in ("watch", "proxy", "connect") or info.subresource in _LONG:
            return await handler(call)
        if info.verb == "get" and not info.subresource:  # a GET of one object never waits long, so it needs no timer
            return await handler(call)
        with self._deadlines:
            return await handler(call)

    def _elsewhere(self, info: RequestInfo) -> RouteHandler | None:
        """Who serves a path below another server's group and version."""
        if info.is_resource:
            place = (info.group, info.version)
        else:
            parts = info.path.split("/")
            if len(parts) < 4 or parts[1] != "apis":
                return None
            place = (parts[2], parts[3])
        return self.aggregated.get(place) or self.built_in.get(place)

    def _handler(self, call: Call) -> Handler:
        resource, subresource = call.resource, call.subresource
        if subresource is not None:
            if resource.custom is not None and subresource.name in resource.custom.handlers:
                kinds_own: Handler = resource.custom.handlers[subresource.name]
                return kinds_own
            own = self._subresources.get(f"{resource.plural}/{subresource.name}") or self._subresources.get(subresource.name)
            if own is not None:
                return own
            if subresource.strategy is None and subresource.name != "status":
                return _builtin_subresource(subresource.name)
        if resource.virtual:
            return self._virtual.get(resource.plural) or _builtin_virtual(resource.plural)
        return self._verb(call.info.verb)

    def _verb(self, verb: str) -> Handler:
        handler = self._handlers.get(verb)
        if handler is None:
            handler = self._handlers[verb] = _module_handler(_MODULES.get(verb, verb))
        return handler

    async def _mounted(self, request: Request) -> Response:
        deepest = max(path.count("/") for path in self._mounts)
        path = "/".join(request.path.rstrip("/").split("/", deepest + 1)[: deepest + 1]) or "/"
        while True:
            handler = self._mounts.get(path)
            if handler is not None:
                return await handler(request)
            if path == "/":
                return text_response("404 page not found\n", 404)
            path = path.rpartition("/")[0] or "/"


async def _forgetting(answer: Coroutine[Any, Any, Response], body: bytes) -> Response:
    """The answer to a large body in YAML, of which nothing is kept then."""
    try:
        return await answer
    finally:
        large_yaml.forget(body)


def _takes_long(request: Request, info: RequestInfo) -> bool:
    """Whether a request for another server's resources may go on for as long as it wants."""
    return info.verb in ("watch", "proxy", "connect") or info.subresource in _LONG or "upgrade" in request.headers


def _module_handler(name: str) -> Handler:
    """The `handle` of `handlers.<name>`, imported when first needed."""
    handler: Handler = import_module(f"setpoint.apiserver.handlers.{name}").handle
    return handler


def _builtin_subresource(name: str) -> Handler:
    try:
        return _module_handler(f"subresources.{name}")
    except ModuleNotFoundError:
        raise StatusError(501, "", f"the subresource {name} is not served yet") from None


def _builtin_virtual(plural: str) -> Handler:
    place = _VIRTUAL.get(plural)
    if place is None:
        raise StatusError(501, "", f"the resource {plural} is not served yet")
    module, name = place
    handler: Handler = getattr(import_module(f"setpoint.apiserver.handlers.{module}"), name)
    return handler


def _unheard(request: Request) -> list[str]:
    """What to warn of where a credential was not taken for one."""
    text = complaint(request.headers.get("authorization", ""))
    return [text] if text else []


def _timed_out() -> StatusError:
    return StatusError(
        504,
        "Timeout",
        "Timeout: request did not complete within the allotted timeout",
        {},
    )
