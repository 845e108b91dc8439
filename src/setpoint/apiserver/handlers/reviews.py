"""Reviews: questions about identity and rights that are answered and never stored.

Source: Kubernetes `registry/authentication`, `registry/authorization`.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import FieldError, StatusError, bad_request, invalid, invalid_object
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import manager_of, write_options
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.registry.strategy import Object


async def self_subject(call: Call) -> Response:
    """SelfSubjectReview answers who asks."""
    review = read_review(call)
    review["metadata"] = {"creationTimestamp": call.store.stamp()}
    review["status"] = {"userInfo": user_info(call.request.user)}
    return answers.value_answer(call, review, 201)


def user_info(user: UserInfo) -> dict[str, Any]:
    """`authentication.k8s.io/v1 UserInfo`, without what is empty."""
    info: dict[str, Any] = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info


async def self_access(call: Call) -> Response:
    """SelfSubjectAccessReview answers whether the asker may."""
    review = read_review(call)
    return await _answer(call, review, call.request.user, _attribute_errors(review.get("spec") or {}))


async def self_rules(call: Call) -> Response:
    """SelfSubjectRulesReview lists what the asker may do in a namespace: everything, for whoever proved an identity."""
    review = read_review(call)
    if not (review.get("spec") or {}).get("namespace"):
        raise bad_request("no namespace on request")
    everything = "system:authenticated" in call.request.user.groups
    resources = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}] if everything else []
    paths = [{"verbs": ["*"], "nonResourceURLs": ["*"]}] if everything else []
    review["metadata"], review["spec"] = {}, {}
    review["status"] = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
    return answers.value_answer(call, review, 201)


async def subject_access(call: Call) -> Response:
    """SubjectAccessReview and LocalSubjectAccessReview answer whether someone else may."""
    review = read_review(call)
    spec = review.get("spec") or {}
    errors = _attribute_errors(spec)
    if not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", spec.get("user") or "", "at least one of user or group must be specified"))
    if call.resource.namespaced:
        _check_namespace(call, spec)
    extra = {name: tuple(values) for name, values in (spec.get("extra") or {}).items()}
    user = UserInfo(spec.get("user") or "", spec.get("uid") or "", tuple(spec.get("groups") or ()), extra)
    return await _answer(call, review, user, errors)


def _check_namespace(call: Call, spec: Object) -> None:
    given = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if given != call.info.namespace:
        raise bad_request(f"spec.resourceAttributes.namespace must match namespace: {call.info.namespace}")


def read_review(call: Call) -> Object:
    call.form = accepted(call.request)
    options = write_options(call.request, "CreateOptions")
    media = body_type(call.request)
    review, warnings = call.bodies.decode(call.request.body, media, call.resource, call.version, options.validation)
    call.warnings += warnings
    node, manager = call.bodies.node(call.resource, call.version), manager_of(options, call.request)
    ownership.of_body(call, review, node, api_version(call.resource, call.version), manager)
    return review


def _attribute_errors(spec: Object) -> list[FieldError]:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (other is None):
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid("spec.resourceAttributes", resource, text)]
    return []


async def _answer(call: Call, review: Object, user: UserInfo, errors: list[FieldError]) -> Response:
    if errors:
        raise invalid_object(call.resource.group, "", "", errors)
    spec = review["spec"]
    status: dict[str, Any] = {"allowed": True}
    if call.pipeline.authorizer is not None:
        try:
            await call.pipeline.authorizer.authorize(Request("", "", user=user), _asked(spec))
        except StatusError as error:
            if error.code != 403:
                raise
            status = {"allowed": False}
    review["status"] = status
    return answers.value_answer(call, review, 201)


def _asked(spec: Object) -> RequestInfo:
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
        version=attributes.get("version") or "",
        namespace=attributes.get("namespace") or "",
        resource=attributes.get("resource") or "",
        name=attributes.get("name") or "",
        subresource=attributes.get("subresource") or "",
    )
