"""The API: lists and single objects, read only. As metrics-server's `pkg/api`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from setpoint.api.machinery import selectors
from setpoint.api.machinery.status import method_not_supported, not_found
from setpoint.apiserver.request import Request, Response, json_response, text_response
from setpoint.apiserver.resource_metrics.scraping import Fetch, Scraper, Used
from setpoint.kit.clock import Clock, rfc3339
from setpoint.storage.protocol import NotFound, Store

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
PLACE = (GROUP, VERSION)
_API_VERSION = f"{GROUP}/{VERSION}"
_KINDS = {"nodes": ("NodeMetrics", False), "pods": ("PodMetrics", True)}
_VERBS = ("get", "list")


def discovery_entry() -> Mapping[str, Any]:
    """The version's entry of the aggregated discovery document."""
    resources = [
        {
            "resource": plural,
            "responseKind": {"group": GROUP, "version": VERSION, "kind": kind},
            "scope": "Namespaced" if namespaced else "Cluster",
            "singularResource": "",
            "verbs": list(_VERBS),
        }
        for plural, (kind, namespaced) in _KINDS.items()
    ]
    return {"version": VERSION, "resources": resources, "freshness": "Current"}


def _resource_list() -> dict[str, Any]:
    rows = [
        {"name": plural, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": list(_VERBS)}
        for plural, (kind, namespaced) in _KINDS.items()
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": _API_VERSION, "resources": rows}


class ResourceMetrics:
    """The handler of the group's paths."""

    def __init__(self, store: Store, fetch: Fetch, clock: Clock) -> None:
        self.scraper = Scraper(store, fetch, clock)
        self._store = store

    async def handle(self, request: Request) -> Response:
        """Raises StatusError."""
        match [part for part in request.path.split("/") if part][3:]:
            case []:
                return json_response(_resource_list())
            case ["nodes", *name] if len(name) < 2:
                return await self._nodes(request, name)
            case ["pods"]:
                return await self._pods(request, "")
            case ["namespaces", namespace, "pods"]:
                return await self._pods(request, namespace)
            case ["namespaces", namespace, "pods", name]:
                return await self._pod(request, namespace, name)
        return text_response("404 page not found\n", 404)

    async def _nodes(self, request: Request, name: list[str]) -> Response:
        _read_only(request, "nodes")
        await self.scraper.ready()
        found = [
            item
            for node in await self._objects("nodes/" + (name[0] if name else ""), single=bool(name))
            if (item := self._node_metrics(node)) is not None and (name or _selected(request, node))
        ]
        if not name:
            return _listed("NodeMetricsList", found)
        if not found:
            raise not_found(GROUP, "nodemetrics", name[0])
        return json_response({"kind": "NodeMetrics", "apiVersion": _API_VERSION, **found[0]})

    async def _pods(self, request: Request, namespace: str) -> Response:
        _read_only(request, "pods")
        await self.scraper.ready()
        pods = await self._objects(f"pods/{namespace}/" if namespace else "pods/")
        found = [item for pod in pods if _selected(request, pod) and (item := self._pod_metrics(pod)) is not None]
        return _listed("PodMetricsList", found)

    async def _pod(self, request: Request, namespace: str, name: str) -> Response:
        _read_only(request, "pods")
        await self.scraper.ready()
        for pod in await self._objects(f"pods/{namespace}/{name}", single=True):
            if (found := self._pod_metrics(pod)) is not None:
                return json_response({"kind": "PodMetrics", "apiVersion": _API_VERSION, **found})
        raise not_found(GROUP, "podmetrics", f"{namespace}/{name}")

    async def _objects(self, key: str, *, single: bool = False) -> Iterable[Mapping[str, Any]]:
        if not single:
            return [orjson.loads(record.value) for record in (await self._store.list(key)).records]
        try:
            return [orjson.loads((await self._store.get(key)).value)]
        except NotFound:
            return []

    def _node_metrics(self, node: Mapping[str, Any]) -> dict[str, Any] | None:
        found = self.scraper.node(node["metadata"]["name"])
        if found is None:
            return None
        return {**_head(node, found), "usage": _usage(found)}

    def _pod_metrics(self, pod: Mapping[str, Any]) -> dict[str, Any] | None:
        meta = pod["metadata"]
        found = self.scraper.pod((pod.get("spec") or {}).get("nodeName") or "", meta["namespace"], meta["name"])
        if not found:
            return None
        containers = [{"name": name, "usage": _usage(used)} for name, used in found.items()]
        return {**_head(pod, min(found.values(), key=lambda used: used.seconds)), "containers": containers}


def _read_only(request: Request, plural: str) -> None:
    if request.method not in ("GET", "HEAD"):
        verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        raise method_not_supported(GROUP, plural, verbs.get(request.method, request.method.lower()))


def _selected(request: Request, obj: Mapping[str, Any]) -> bool:
    """By label, and by the two fields that every object has."""
    meta = obj["metadata"]
    labels = request.parameter("labelSelector")
    if labels and not selectors.parse_labels(labels).matches(meta.get("labels") or {}):
        return False
    for term in filter(None, request.parameter("fieldSelector").split(",")):
        field, _, value = term.replace("==", "=").partition("=")
        if meta.get(field.removeprefix("metadata."), "") != value:
            return False
    return True


def _head(obj: Mapping[str, Any], window: Used) -> dict[str, Any]:
    meta = obj["metadata"]
    taken = rfc3339(window.taken)
    head = {"name": meta["name"], "creationTimestamp": taken}
    head |= {field: meta[field] for field in ("namespace", "labels") if meta.get(field)}
    return {"metadata": head, "timestamp": taken, "window": f"{window.seconds:.3f}s"}


def _usage(used: Used) -> dict[str, str]:
    """In metrics-server's units."""
    return {"cpu": f"{used.cpu}n" if used.cpu else "0", "memory": f"{used.memory // 1024}Ki" if used.memory else "0"}


def _listed(kind: str, items: list[dict[str, Any]]) -> Response:
    return json_response({"kind": kind, "apiVersion": _API_VERSION, "metadata": {}, "items": items})
