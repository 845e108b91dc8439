"""Metrics of requests, by verb, resource and code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.apiserver.routing import RequestInfo
from setpoint.kit import metrics

#: in Kubernetes' words; whether a write was a dry run is not told apart (`dry_run` is empty)
_LABELS = ("verb", "group", "version", "resource", "subresource", "scope", "component", "dry_run", "code")
#: verbs that the metrics call by their method
_VERBS = {"create": "POST", "update": "PUT"}
_TOTAL = metrics.counter("apiserver_request_total", "Requests, by verb, resource and code.", _LABELS)
_SECONDS = metrics.histogram("apiserver_request_duration_seconds", "How long requests took.", _LABELS[:-1])


class Measure:
    """Keeps the metrics' children at hand, so that counting a request costs a dict look-up.

    `names` tells whether a request names something that is served: others would let strangers make labels.
    """

    def __init__(self, names: Callable[[RequestInfo], bool]) -> None:
        self._names = names
        self._children: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def observe(self, info: RequestInfo, code: int, seconds: float) -> None:
        """Count one request to a served resource."""
        key = (info.verb, info.group, info.version, info.resource, info.subresource, bool(info.namespace), bool(info.name), code)
        children = self._children.get(key)
        if children is None:
            if not self._names(info):
                return
            children = self._children[key] = _children(info, code)
        children[0].inc()
        if info.verb != "watch":
            children[1].observe(seconds)


def _children(info: RequestInfo, code: int) -> tuple[Any, Any]:
    scope = ("resource" if info.name else "namespace" if info.namespace else "cluster") if info.is_resource else ""
    verb = _VERBS.get(info.verb) or info.verb.upper()
    labels = (verb, info.group, info.version, info.resource, info.subresource, scope, "apiserver", "")
    return _TOTAL.labels(*labels, str(code)), _SECONDS.labels(*labels)
