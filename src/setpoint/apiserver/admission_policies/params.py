"""What policies are given to go by: objects of any kind, found by name or by label.

Source: apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go` (CollectParams), `policy_source.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from setpoint.api.machinery import selectors
from setpoint.apiserver.admission_policies.definitions import Binding, Policy
from setpoint.apiserver.admission_webhooks.subject import as_served
from setpoint.registry.admission.reader import Reader

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline
    from setpoint.apiserver.routing import Served

Json = Mapping[str, Any]


class NotConfigured(Exception):
    """A policy or a binding that cannot be used as it is; says why."""


def served_kind(pipeline: Pipeline, policy: Policy) -> Served | None:
    """Where the parameters are served, None for a policy without any. Raises NotConfigured."""
    kind = policy.param_kind
    if kind is None:
        return None
    group, _, version = kind.get("apiVersion", "").rpartition("/")
    for served in pipeline.router.served():
        resource = served.resource
        if (resource.group, served.version, resource.kind) == (group, version, kind.get("kind")) and served.store is not None:
            return served
    name = f"{kind.get('apiVersion')}, Kind={kind.get('kind')}"
    raise NotConfigured(f"failed to find resource referenced by paramKind: '{name}'")


async def collect(reader: Reader, served: Served | None, binding: Binding, namespace: str) -> Sequence[Json | None]:
    """The parameters, for each of which the policy is evaluated; a None where it goes without. Raises NotConfigured."""
    reference = binding.param_ref
    if served is None or reference is None:
        return [None]
    place = _namespace(served, reference, namespace)
    found = await _objects(reader, served, reference, place)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise NotConfigured("no params found for policy binding with `Deny` parameterNotFoundAction")
    return [await as_served(served, served.store.canonical(orjson.loads(orjson.dumps(each)))) for each in found]


def _namespace(served: Served, reference: Json, namespace: str) -> str:
    """Where the parameters lie: where the write goes, unless the binding says so."""
    own: str = reference.get("namespace") or ""
    if not served.resource.namespaced:
        if own:
            raise NotConfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    if not own and not namespace:
        raise NotConfigured("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return own or namespace


async def _objects(reader: Reader, served: Served, reference: Json, namespace: str) -> list[Json]:
    collection = served.resource.collection
    if reference.get("name"):
        found = await reader.get(collection, namespace, reference["name"])
        return [found] if found is not None else []
    selector = selectors.from_object(reference.get("selector") or {})
    listed = await reader.list(collection, namespace)
    return [each for each in listed if selector.matches(each["metadata"].get("labels") or {})]
