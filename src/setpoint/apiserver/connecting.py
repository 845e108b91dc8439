"""Admission of what takes over a connection (exec, attach, portforward, proxy): CONNECT, its object the options of the URL.

Source: apiserver `endpoints/handlers/rest.go` (ConnectResource), Kubernetes `core/v1` (PodExecOptions and its like).
"""

from __future__ import annotations

from typing import Any

from setpoint.apiserver.call import Call
from setpoint.apiserver.routing import is_true
from setpoint.registry.admission.request import AdmissionRequest

_BOOLEANS, _TEXTS = ("stdin", "stdout", "stderr", "tty"), ("container",)


async def admit(call: Call) -> None:
    """Ask the admission steps that look at connections. Raises StatusError."""
    admission, part, resource = call.pipeline.admission, call.subresource, call.resource
    if part is None or not admission.concerned("CONNECT", resource.group_resource, part.name):
        return
    request = AdmissionRequest(
        operation="CONNECT",
        resource=resource,
        version=resource.storage_version,
        context=call.context("CONNECT"),
        namespace=call.info.namespace if resource.namespaced else "",
        name=call.info.name,
        subresource=part.name,
        obj=_options(call, part.kind),
        request_version=call.version,
    )
    await admission.admit(request)
    await admission.validate(request)


def path_of(call: Call) -> str:
    """What follows `proxy` in the path, its slashes included; empty where nothing does."""
    rest = "/".join(("", *call.info.rest))
    return rest + "/" if call.request.path.endswith("/") and not rest.endswith("/") else rest


def _options(call: Call, kind: str) -> dict[str, Any]:
    """The parameters of the URL as their kind: `PodExecOptions`, `PodAttachOptions`, `PodPortForwardOptions`, `…ProxyOptions`."""
    query = call.request.query
    obj: dict[str, Any] = {"kind": kind, "apiVersion": "v1"}
    if kind.endswith("ProxyOptions"):
        path = path_of(call)
        return {**obj, "path": path} if path else obj
    if kind == "PodPortForwardOptions":
        ports = [int(port) for value in query.get("ports", ()) for port in value.split(",") if port.isdigit()]
        return {**obj, "ports": ports} if ports else obj
    obj |= {name: True for name in _BOOLEANS if name in query and is_true(query[name][0])}
    obj |= {name: query[name][0] for name in _TEXTS if query.get(name)}
    if command := list(query.get("command", ())):
        obj["command"] = command
    return obj
