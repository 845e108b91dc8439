"""The condition Available, in Kubernetes' words."""

from __future__ import annotations

import asyncio

from aiohttp import web
from tests.apiserver.aggregation.conftest import API_SERVICES, METRICS, Api


async def test_a_service_appears_step_by_step(api: Api) -> None:
    await api.register()
    found = await api.condition("ServiceNotFound")
    assert (found["status"], found["message"]) == ("False", 'service/hook in "default" is not present')
    ports = [{"name": "https", "port": 1}]
    await api("POST /api/v1/namespaces/default/services", {"metadata": {"name": "hook"}, "spec": {"ports": ports}})
    found = await api.condition("ServicePortError")
    assert found["message"] == f'service/hook in "default" is not listening on port {api.other.port}'
    await api("DELETE /api/v1/namespaces/default/services/hook")
    ports = [{"name": "https", "port": api.other.port}]
    await api("POST /api/v1/namespaces/default/services", {"metadata": {"name": "hook"}, "spec": {"ports": ports}})
    found = await api.condition("EndpointsNotFound")
    assert found["message"] == 'cannot find endpointslices for service/hook in "default"'
    slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    labels = {"kubernetes.io/service-name": "hook"}
    piece = {"metadata": {"name": "hook-0", "labels": labels}, "addressType": "IPv4", "endpoints": [], "ports": []}
    await api(f"POST {slices}", piece)
    found = await api.condition("MissingEndpoints")
    assert found["message"] == 'endpointslices for service/hook in "default" have no addresses with port name "https"'
    await api("DELETE /api/v1/namespaces/default/services/hook")
    await api.serve()
    found = await api.condition("Passed")
    assert (found["status"], found["message"]) == ("True", "all checks passed")


async def test_a_server_that_answers_badly(api: Api) -> None:
    async def refuse(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=401)

    api.other.answers[METRICS] = refuse
    await api.serve()
    await api.register()
    found = await api.condition("FailedDiscoveryCheck")
    url = f"https://hook.default.svc:{api.other.port}{METRICS}"
    assert found["message"] == f"failing or missing response from {url}: bad status from {url}: 401"


async def test_a_server_that_is_not_trusted(api: Api) -> None:
    await api.serve()
    await api.register(caBundle=None)
    found = await api.condition("FailedDiscoveryCheck")
    assert found["message"].endswith("tls: failed to verify certificate: x509: certificate signed by unknown authority")
    await api(f"DELETE {API_SERVICES}/v1.metrics.example.com")
    await api.register(caBundle=None, insecureSkipTLSVerify=True)
    await api.condition("Passed")


async def test_what_is_served_here_is_local(api: Api) -> None:
    found = await api.condition("Local", "v1.apps")
    assert (found["status"], found["message"]) == ("True", "Local APIServices are always available")


async def test_custom_kinds_have_services_of_their_own(api: Api) -> None:
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "demo.test", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": versions}
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await api(f"POST {crds}", {"metadata": {"name": "widgets.demo.test"}, "spec": spec})
    for _ in range(100):
        response = await api.respond(f"GET {API_SERVICES}/v1.demo.test")
        if response.status == 200:
            break
        await asyncio.sleep(0.01)
    await api.condition("Local", "v1.demo.test")
    obj = await api(f"GET {API_SERVICES}/v1.demo.test")
    assert obj["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    assert obj["spec"] == {"group": "demo.test", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    await api(f"DELETE {crds}/widgets.demo.test")
    for _ in range(300):
        if (await api.respond(f"GET {API_SERVICES}/v1.demo.test")).status == 404:
            return
        await asyncio.sleep(0.01)
    raise AssertionError
