"""The pipeline with everything that answers in it; the same for a real server and for a cluster in a test."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from setpoint.api.machinery.schema import trees
from setpoint.apiserver.admission_policies.following import AdmissionPolicies
from setpoint.apiserver.admission_webhooks.following import AdmissionWebhooks
from setpoint.apiserver.aggregation.assembling import Aggregation
from setpoint.apiserver.aggregation.following import Groups
from setpoint.apiserver.authentication.service_accounts import ServiceAccountTokens
from setpoint.apiserver.authentication.token_requests import TokenRequests
from setpoint.apiserver.authorization.assembly import DEFAULT, Authorization, Chosen
from setpoint.apiserver.authorization.claim_status import ClaimStatusRights
from setpoint.apiserver.authorization.node.restriction import NodeRestriction
from setpoint.apiserver.authorization.signers import signer_steps
from setpoint.apiserver.call import Call
from setpoint.apiserver.custom_resources.following import CustomResources
from setpoint.apiserver.discovery import Discovery
from setpoint.apiserver.flow_control import debug as flow_control_pages
from setpoint.apiserver.flow_control.following import FlowControlObjects
from setpoint.apiserver.handlers import issuer
from setpoint.apiserver.kubelet_proxy import options
from setpoint.apiserver.kubelet_proxy.proxy import KubeletProxy
from setpoint.apiserver.object_proxy.forwarding import ObjectProxy
from setpoint.apiserver.openapi import OpenAPI
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.pki import KeyPair
from setpoint.apiserver.request import Response
from setpoint.app.admission import Configured
from setpoint.app.options import Timings
from setpoint.kit.clock import Clock
from setpoint.registry.admission.default import default_chain
from setpoint.registry.admission.device_admin import DeviceAdmin
from setpoint.registry.admission.pod_security.step import PodSecurity
from setpoint.registry.admission.reader import StoreReader
from setpoint.registry.resource import ServedResource
from setpoint.registry.service.allocation import ServiceAllocator
from setpoint.registry.table import minors
from setpoint.storage.protocol import Diagnosed, Store

Fetch = Callable[[Mapping[str, Any]], Awaitable[bytes]]


def make_pipeline(  # noqa: PLR0913  a server is put together of as many parts
    store: Store,
    clock: Clock,
    *,
    address: Callable[[], str],
    tokens: ServiceAccountTokens | None = None,
    kubelet: KubeletProxy | None = None,
    timings: Timings = Timings(),  # noqa: B008  frozen
    authorizers: Sequence[Chosen] = DEFAULT,
    minor: str = minors.DEFAULT,
    front_proxy: KeyPair | None = None,
    usage: Fetch | None = None,
    disabled_plugins: Collection[str] = (),
    configured: Configured = Configured(),  # noqa: B008  frozen
) -> Pipeline:
    """A pipeline over `store` that serves every built-in resource of a Kubernetes minor; `address` is where clients reach it
    (`host:port`); `usage` gets a node's summary, where metrics are served.
    """
    served = minors.of_minor(minor)
    reader = StoreReader(store)
    authorization = Authorization(store, clock, authorizers)
    webhooks = AdmissionWebhooks(reader, configured.webhook_users)
    policies = AdmissionPolicies(reader, authorization.authorizer)
    admission = default_chain(
        reader,
        clock,
        not_ready_seconds=timings.not_ready_toleration,
        unreachable_seconds=timings.unreachable_toleration,
        ledger=reader,
        disabled=disabled_plugins,
        last=(authorization.escalation, policies.rights, DeviceAdmin(reader), ClaimStatusRights(authorization.authorizer)),
        plugins={
            "NodeRestriction": NodeRestriction(reader, authorization.authorizer),
            "PodSecurity": PodSecurity(reader, configured.pod_security),
            **signer_steps(authorization.authorizer),
            **webhooks.plugins,
            **policies.plugins,
        },
    )
    pipeline = Pipeline(
        ServiceAllocator(store).hook_into(served.resources),
        store,
        clock,
        schemas=trees.load(minor) if minor == minors.DEFAULT else trees.Stored(minor),
        admission=admission,
        authorizer=authorization.authorizer,
        issuer=TokenRequests(tokens, reader, clock) if tokens is not None else None,
        minor=minor,
    )
    if isinstance(store, Diagnosed):
        for check in ("etcd", "etcd-readiness"):
            pipeline.health.add(check, lambda: store.trouble)
    _mount_nodes(pipeline, kubelet)
    custom = _serve_kinds(pipeline, served, front_proxy, usage, address)
    pipeline.followers += [*authorization.followers, custom, FlowControlObjects(pipeline.flow_control, store, clock)]
    pipeline.followers += [*webhooks.followers(pipeline, admission), *policies.followers(pipeline, admission)]
    pipeline.mount(flow_control_pages.PREFIX, flow_control_pages.Dumps(pipeline.flow_control, clock).handle)
    if tokens is not None:
        pages = issuer.IssuerPages(tokens, address)
        pipeline.mount(issuer.CONFIGURATION, pages.configuration)
        pipeline.mount(issuer.KEYS, pages.keys)
    return pipeline


def _serve_kinds(
    pipeline: Pipeline, served: minors.Minor, front_proxy: KeyPair | None, usage: Fetch | None, address: Callable[[], str]
) -> CustomResources:
    """Custom resources and the groups of other servers beside the built-in kinds, and the documents that name them all."""
    schemas = trees.load(served.name)
    custom = CustomResources(pipeline, schemas)
    aggregation = Aggregation(pipeline, custom.groups, front_proxy)
    own = _unstored_groups(pipeline, usage)

    def groups() -> Groups:
        return aggregation.services.merged([*served.groups, *custom.groups(), *((group, (version,)) for group, version in own)])

    def resources() -> list[ServedResource]:
        return [*served.resources, *custom.resources()]

    documents = aggregation.documents
    discovery = Discovery(groups, resources, address, ChainMap(documents.resources, own))
    openapi = OpenAPI(schemas, resources, documents)
    custom.on_change += [discovery.changed, openapi.changed, aggregation.automanaged.changed]
    aggregation.on_change += [discovery.changed, openapi.changed]
    pipeline.mount("/api", discovery.handle)
    pipeline.mount("/apis", discovery.handle)
    pipeline.mount("/openapi", openapi.handle)
    return custom


def _unstored_groups(pipeline: Pipeline, usage: Fetch | None) -> dict[tuple[str, str], Mapping[str, Any]]:
    """What is served without a store behind it, with its entry in discovery: metrics, where nodes run."""
    if usage is None:
        return {}
    from setpoint.apiserver.resource_metrics import serving

    pipeline.built_in[serving.PLACE] = serving.ResourceMetrics(pipeline.store, usage, pipeline.clock).handle
    return {serving.PLACE: serving.discovery_entry()}


def _mount_nodes(pipeline: Pipeline, kubelet: KubeletProxy | None) -> None:
    """What goes on to nodes, pods and services: streams where nodes run containers, and the `proxy` subresources."""
    if kubelet is not None:
        _mount_streams(pipeline, kubelet)
    proxy = ObjectProxy(pipeline.store, kubelet)
    pipeline.subresource("proxy", proxy.handle)
    pipeline.on_close.append(proxy.close)


def _mount_streams(pipeline: Pipeline, kubelet: KubeletProxy) -> None:
    """Logs, exec, attach and ports of pods, passed on to their nodes."""

    async def pod_of(call: Call) -> Mapping[str, Any]:
        return call.store.codec.decode(await call.store.get(call.info.namespace, call.info.name))

    async def log(call: Call) -> Response:
        options.log_query(call.request, call.info.name)  # what is asked for is judged before the pod is looked for
        return await kubelet.logs(call.request, await pod_of(call))

    async def execute(call: Call) -> Response:
        return await kubelet.stream(call.request, await pod_of(call), "exec")

    async def attach(call: Call) -> Response:
        return await kubelet.stream(call.request, await pod_of(call), "attach")

    async def forward(call: Call) -> Response:
        return await kubelet.forward(call.request, await pod_of(call))

    handlers = {"pods/log": log, "pods/exec": execute, "pods/attach": attach, "pods/portforward": forward}
    for name, handler in handlers.items():
        pipeline.subresource(name, handler)
