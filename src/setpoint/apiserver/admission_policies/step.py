"""What both admission steps have in common: their policies, and which writes those could be about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import not_found
from setpoint.apiserver.admission_webhooks.configured_step import ConfiguredStep, Places
from setpoint.apiserver.admission_webhooks.subject import Subject
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.admission_policies.definitions import Policy

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"
#: reviews, which policies are not asked about. Source: `pkg/kubeapiserver/admission/exclusion/resources.go`
_REVIEWS = frozenset(
    (
        f"selfsubjectreviews.{_AUTHENTICATION}",
        f"tokenreviews.{_AUTHENTICATION}",
        f"localsubjectaccessreviews.{_AUTHORIZATION}",
        f"selfsubjectaccessreviews.{_AUTHORIZATION}",
        f"selfsubjectrulesreviews.{_AUTHORIZATION}",
        f"subjectaccessreviews.{_AUTHORIZATION}",
    )
)


class PolicyStep(ConfiguredStep):
    """A step that knows no policy yet."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self.policies: Sequence[Policy] = ()

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        return group_resource not in _REVIEWS and super().concerns(operation, group_resource, subresource)

    def is_idle(self) -> bool:
        return not self.policies

    def could_match(self, operation: str, here: Places, everywhere: Places, subresource: str) -> bool:
        constraints = [policy.constraints for policy in self.policies]
        return any(each.could_match(operation, everywhere if each.equivalent else here, subresource) for each in constraints)

    async def namespace_of(self, subject: Subject) -> Mapping[str, Any] | None:
        """The namespace that the write is in; a namespace itself is in none. Raises StatusError 404."""
        target = subject.target
        if not subject.namespace or (target.plural == "namespaces" and not target.group):
            return None
        found = await self.reader.get("namespaces", "", subject.namespace)
        if found is None:
            raise not_found("", "namespaces", subject.namespace)
        return found


class ValidatingPolicies(PolicyStep):
    """The step that only refuses."""

    async def validate(self, request: AdmissionRequest) -> None:
        if not self.is_starting(request):
            from setpoint.apiserver.admission_policies import validating  # a start needs none of what it needs

            await validating.validate(self, request)


class MutatingPolicies(PolicyStep):
    """The step that may change objects."""

    async def admit(self, request: AdmissionRequest) -> None:
        if not self.is_starting(request):
            from setpoint.apiserver.admission_policies import mutating  # a start needs none of what it needs

            await mutating.admit(self, request)
