"""Which container is meant, and what may be asked of it. The texts are those of `registry/core/pod/strategy.go`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setpoint.api.machinery.schema import times
from setpoint.api.machinery.status import FieldError, StatusError, bad_request, forbidden, invalid, invalid_object
from setpoint.apiserver.options import integer
from setpoint.apiserver.request import Request


def container_of(pod: Mapping[str, Any], wanted: str) -> str:
    """The container that `?container=` (or its absence) names; raises StatusError 400."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    regular, init, ephemeral = (_names(spec.get(key)) for key in ("containers", "initContainers", "ephemeralContainers"))
    if wanted:
        if wanted not in (*regular, *init, *ephemeral):
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    if len(regular) == 1:
        return regular[0]
    if not regular:
        raise bad_request(f"a container name must be specified for pod {name}")
    every = " ".join((*init, *regular, *ephemeral))
    raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{every}]")


def _names(containers: Iterable[Mapping[str, Any]] | None) -> list[str]:
    return [container["name"] for container in containers or ()]


def flag(request: Request, name: str) -> bool:
    """A boolean parameter as Kubernetes reads it: anything but 0 and false is true, even nothing."""
    values = request.query.get(name) or ("false",)
    return values[0] != "0" and values[0].lower() != "false"


def log_query(request: Request, pod_name: str) -> dict[str, str]:
    """The log options to pass on; raises StatusError 400 or 422."""
    numbers = {name: integer(request.query, name) for name in ("tailLines", "limitBytes", "sinceSeconds")}
    since = _time(request, "sinceTime")
    errors = list(_log_errors(numbers, since))
    if "stream" in request.query:  # a feature that is off (KEP-3288)
        errors.append(forbidden("stream", "may not be specified"))
    if errors:
        raise invalid_object("", "PodLogOptions", pod_name, errors)
    query = {name: str(value) for name, value in numbers.items() if value is not None}
    query |= {name: "true" for name in ("follow", "previous", "timestamps") if flag(request, name)}
    return {**query, "sinceTime": since} if since else query


def _log_errors(numbers: Mapping[str, int | None], since_time: str) -> Iterable[FieldError]:
    tail, limit, since = numbers["tailLines"], numbers["limitBytes"], numbers["sinceSeconds"]
    if tail is not None and tail < 0:
        yield invalid("tailLines", tail, "must be greater than or equal to 0")
    if limit is not None and limit < 1:
        yield invalid("limitBytes", limit, "must be greater than 0")
    if since is not None and since_time:
        yield forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified")
    elif since is not None and since < 1:
        yield invalid("sinceSeconds", since, "must be greater than 0")


def _time(request: Request, name: str) -> str:
    text = request.parameter(name)
    if text in ("", "null"):
        return ""
    try:
        times.check(text)
    except times.TimeError as error:
        raise bad_request(str(error)) from None
    return text


def host_of(pod: Mapping[str, Any]) -> str:
    """The node that a stream must go to; raises StatusError 400 for a pod without one."""
    node = pod["spec"].get("nodeName", "")
    if not node:
        raise bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")
    return str(node)


def stream_query(request: Request, container: str) -> list[tuple[str, str]]:
    """What exec and attach pass on: the container, the streams and the command."""
    query = [("container", container)]
    query += [(name, "true") for name in ("stdin", "stdout", "stderr", "tty") if flag(request, name)]
    return query + [("command", word) for word in request.query.get("command", ())]


def forward_query(request: Request) -> list[tuple[str, str]]:
    """What a forwarding of ports passes on: which, where the client has to say so before."""
    ports = ",".join(request.query.get("ports", ()))
    return [("port", ports)] if ports else []


def check_streams(request: Request, *, command_needed: bool) -> None:
    """Raise StatusError 400 when nothing would be streamed, or exec has no command."""
    if not any(flag(request, name) for name in ("stdin", "stdout", "stderr")):
        raise bad_request("you must specify at least one of stdin, stdout, stderr")
    if command_needed and not request.query.get("command"):
        raise bad_request("you must specify at least one command for the container")


def node_address(node: Mapping[str, Any]) -> tuple[str, int]:
    """Where a node's agent listens; raises StatusError 500 when the node does not say."""
    status = node.get("status") or {}
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or 10250
    addresses: Sequence[Mapping[str, str]] = status.get("addresses") or ()
    for wanted in ("InternalIP", "ExternalIP", "Hostname"):
        for address in addresses:
            if address["type"] == wanted:
                return address["address"], int(port)
    name = node["metadata"]["name"]
    raise StatusError(500, "InternalError", f"Internal error occurred: no preferred addresses found; known addresses: {name}", {})
