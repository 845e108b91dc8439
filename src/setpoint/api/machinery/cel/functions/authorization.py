"""Asking whether somebody may do something: `authorizer.group('').resource('pods').check('get').allowed()`.

An expression cannot wait. Whoever evaluates it gives an authoriser whose `decide` either knows the answer or raises something of
its own, and then evaluates it once more when it knows. Source: Kubernetes' `apiserver/pkg/cel/library/authz.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from setpoint.api.machinery import names
from setpoint.api.machinery.cel.values import CelError, opaque_names


class Verdict(Struct, frozen=True):
    """What the authoriser said."""

    allowed: bool
    reason: str = ""
    error: str = ""


class Question(Struct, frozen=True):
    """What is asked about: a path, or a resource. `account` is whom it is about, the user of the request if empty."""

    account: tuple[str, str] = ("", "")
    verb: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    fields: str = ""
    labels: str = ""


Decide = Callable[[Question], Verdict]


class Authorizer(Struct, frozen=True):
    """The value that expressions start from."""

    decide: Decide
    question: Question = Question()


class PathCheck(Struct, frozen=True):
    """About a path outside resources."""

    decide: Decide
    question: Question


class GroupCheck(Struct, frozen=True):
    """About a group's resources."""

    decide: Decide
    question: Question


class ResourceCheck(Struct, frozen=True):
    """About a resource."""

    decide: Decide
    question: Question


for _kind, _name in ((Authorizer, "Authorizer"), (PathCheck, "PathCheck"), (GroupCheck, "GroupCheck"),
                     (ResourceCheck, "ResourceCheck"), (Verdict, "Decision")):  # fmt: skip
    opaque_names[_kind] = f"kubernetes.authorization.{_name}"


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise CelError("path must not be empty")
    return PathCheck(authorizer.decide, structs.replace(authorizer.question, path=path))


def _group(authorizer: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(authorizer.decide, structs.replace(authorizer.question, group=group))


def _account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if names.dns_subdomain(name):
        raise CelError("Invalid service account name")
    if names.dns_label(namespace):
        raise CelError("Invalid service account namespace")
    return Authorizer(authorizer.decide, Question(account=(namespace, name)))


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    return ResourceCheck(check.decide, structs.replace(check.question, resource=resource))


def _with(field: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    def narrowed(check: ResourceCheck, value: str) -> ResourceCheck:
        return ResourceCheck(check.decide, structs.replace(check.question, **{field: value}))

    return narrowed


def _check(check: PathCheck | ResourceCheck, verb: str) -> Verdict:
    return check.decide(structs.replace(check.question, verb=verb))


OVERLOADS: dict[str, Callable[..., Any]] = {
    "authorizer_path": _path,
    "authorizer_group": _group,
    "authorizer_serviceaccount": _account,
    "groupcheck_resource": _resource,
    "resourcecheck_subresource": _with("subresource"),
    "resourcecheck_namespace": _with("namespace"),
    "resourcecheck_name": _with("name"),
    "authorizer_fieldselector": _with("fields"),
    "authorizer_labelselector": _with("labels"),
    "pathcheck_check": _check,
    "resourcecheck_check": _check,
    "decision_allowed": lambda verdict: verdict.allowed,
    "decision_reason": lambda verdict: verdict.reason,
    "decision_errored": lambda verdict: bool(verdict.error),
    "decision_error": lambda verdict: verdict.error,
}
