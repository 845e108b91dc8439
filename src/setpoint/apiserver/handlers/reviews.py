"""Reviews: questions about identity and rights that are answered and never stored.

Source: Kubernetes `registry/authentication`, `registry/authorization`, `pkg/apis/authorization/validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.api.machinery.status import FieldError, bad_request, invalid_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.authorization.decision import ALLOWED, Rules
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.authorization import reviews as validation
from setpoint.registry.authorization.supposed import Supposed, supposed
from setpoint.registry.strategy import Object

_RESOURCE_RULE = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_RULE = ("verbs", "nonResourceURLs")
#: metadata that a client cannot set
_SERVERS = frozenset(("namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"))


async def self_subject(call: Call) -> Response:
    """SelfSubjectReview answers who asks."""
    review = read_review(call)
    review["metadata"] = {"creationTimestamp": call.store.stamp()}
    review["status"] = {"userInfo": call.request.user.as_json()}
    return answers.made_answer(call, review, answers.internal_type(call), 201)


async def self_access(call: Call) -> Response:
    """SelfSubjectAccessReview answers whether the asker may."""
    review = read_review(call)
    return await _answer(call, review, call.request.user, validation.self_subject_errors(review))


async def subject_access(call: Call) -> Response:
    """SubjectAccessReview and LocalSubjectAccessReview answer whether someone else may."""
    review = read_review(call)
    spec = review.get("spec") or {}
    errors = (validation.local_errors if call.resource.namespaced else validation.subject_errors)(review)
    extra = {name.lower(): tuple(values or ()) for name, values in (spec.get("extra") or {}).items()}
    user = UserInfo(spec.get("user") or "", spec.get("uid") or "", tuple(spec.get("groups") or ()), extra)
    return await _answer(call, review, user, errors)


async def self_rules(call: Call) -> Response:
    """SelfSubjectRulesReview lists what the asker may do in a namespace, as far as that can be listed."""
    review = read_review(call)
    namespace = (review.get("spec") or {}).get("namespace")
    if not namespace:
        raise bad_request("no namespace on request")
    authorizer = call.pipeline.authorizer
    rules = authorizer.rules_for(call.request.user, namespace) if authorizer is not None else Rules()
    review["metadata"], review["spec"] = {}, {}
    review["status"] = {
        "resourceRules": _shown(rules.resources, _RESOURCE_RULE),
        "nonResourceRules": _shown(rules.paths, _PATH_RULE),
        "incomplete": rules.incomplete,
    }
    if rules.error:
        review["status"]["evaluationError"] = rules.error
    return answers.made_answer(call, review, answers.internal_type(call), 201)


def _shown(rules: Iterable[Mapping[str, Any]], fields: Iterable[str]) -> list[dict[str, Any]]:
    return [{field: rule[field] for field in fields if rule.get(field)} for rule in rules]


def read_review(call: Call) -> Object:
    call.form = accepted(call.request, answers.METADATA_FORMS)
    options = write_options(call.request, "CreateOptions")
    media = body_type(call.request)
    review, warnings = call.bodies.decode(call.request.body, media, call.resource, call.version, options.validation)
    call.warnings += warnings
    _set_metadata(call, review)
    node, manager = call.bodies.node(call.resource, call.version), manager_of(options, call.request)
    ownership.of_body(call, review, node, api_version(call.resource, call.version), manager)
    return review


def _set_metadata(call: Call, review: Object) -> None:
    """What the server sets is not the client's to say. The namespace is the path's: a body's must agree, or there is none."""
    metadata, namespace = review.get("metadata") or {}, call.info.namespace
    if namespace and (metadata.get("namespace") or namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if metadata or namespace:
        kept = {field: value for field, value in metadata.items() if field not in _SERVERS}
        review["metadata"] = {**kept, "namespace": namespace} if namespace else kept


async def _answer(call: Call, review: Object, user: UserInfo, errors: list[FieldError]) -> Response:
    if errors:
        raise invalid_object(call.resource.group, "", "", errors)
    authorizer, spec = call.pipeline.authorizer, review["spec"]
    selected = supposed(spec.get("resourceAttributes") or {})
    decision = await authorizer.decide(user, _asked(spec, selected)) if authorizer is not None else ALLOWED
    status: dict[str, Any] = {"allowed": bool(decision.allowed)}
    if decision.allowed is False:
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    if errors_met := "; ".join(filter(None, (decision.error, selected.complaint))):
        status["evaluationError"] = errors_met
    review["status"] = status
    return answers.made_answer(call, review, answers.internal_type(call), 201)


def _asked(spec: Object, selected: Supposed) -> RequestInfo:
    """The request that a review asks about."""
    other = spec.get("nonResourceAttributes")
    if other is not None:
        return RequestInfo(is_resource=False, path=other.get("path") or "", verb=other.get("verb") or "")
    attributes = spec["resourceAttributes"]
    return RequestInfo(
        is_resource=True,
        path="",
        verb=attributes.get("verb") or "",
        group=attributes.get("group") or "",
        version=attributes.get("version") or "*",
        namespace=attributes.get("namespace") or "",
        resource=attributes.get("resource") or "",
        name=attributes.get("name") or "",
        subresource=attributes.get("subresource") or "",
        fields=selected.fields,
        labels=selected.labels,
    )
