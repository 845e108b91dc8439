"""What both admission steps have in common: their policies, and which writes those could be about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import not_found
from setpoint.apiserver.admission_webhooks.choosing import Choice
from setpoint.apiserver.admission_webhooks.subject import Subject, places
from setpoint.registry.admission.chain import BaseStep
from setpoint.registry.admission.matching import EXEMPT
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.apiserver.admission_policies.definitions import Policy
    from setpoint.apiserver.pipeline import Pipeline

_OURSELVES = "system:apiserver"
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


class PolicyStep(BaseStep):
    """An admission step that knows no policy yet. It is made before the pipeline, which is given to it by `serve`."""

    pipeline: Pipeline

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.choice = Choice(reader)
        self.policies: Sequence[Policy] = ()

    def serve(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if not self.policies or group_resource in EXEMPT or group_resource in _REVIEWS:
            return False
        plural, _, group = group_resource.partition(".")
        store = self.pipeline.stores.get((group, plural))
        collection = store.resource.collection if store is not None else group_resource
        everywhere = [(one, name) for one, _, name in places(self.pipeline, collection, "")]
        here = [(group, plural)]
        constraints = [policy.constraints for policy in self.policies]
        return any(each.could_match(operation, everywhere if each.equivalent else here, subresource) for each in constraints)

    def is_starting(self, request: AdmissionRequest) -> bool:
        """Whether the server makes its first objects: a policy must not keep it from starting."""
        return not self.pipeline.health.started and request.context.user.name == _OURSELVES

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
