"""Follows the policies and bindings in the store. They are in force before the first request, changes from when they are seen."""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.apiserver.admission_policies.rights import ParamRights
from setpoint.apiserver.admission_policies.step import MutatingPolicies, PolicyStep, ValidatingPolicies
from setpoint.apiserver.authorization.decision import UnionAuthorizer
from setpoint.apiserver.pipeline import Pipeline
from setpoint.registry.admission.chain import Chain, Step
from setpoint.registry.admission.matching import GROUP
from setpoint.registry.admission.reader import Reader
from setpoint.storage.following import Picture

VALIDATING, MUTATING = "validatingadmissionpolicies", "mutatingadmissionpolicies"
_BINDINGS = {VALIDATING: "validatingadmissionpolicybindings", MUTATING: "mutatingadmissionpolicybindings"}


class Policies:
    """The policies of one kind with their bindings, and the step that they are for."""

    def __init__(self, pipeline: Pipeline, chain: Chain, step: PolicyStep, plural: str) -> None:
        self._chain = chain
        self._step = step
        self._policies, self._bindings = (
            Picture(pipeline.store, pipeline.clock, f"{each}.{GROUP}/", self._enforce) for each in (plural, _BINDINGS[plural])
        )
        step.serve(pipeline)

    @property
    def followers(self) -> list[Picture]:
        return [self._policies, self._bindings]

    def _enforce(self) -> None:
        policies, bindings = self._policies.objects, self._bindings.objects
        if not policies and not bindings and not self._step.policies:
            return
        from setpoint.apiserver.admission_policies.definitions import read_policies  # a start needs none of it

        self._step.policies = read_policies([*policies.values()], [*bindings.values()], self._step.policies)
        self._chain.changed()


class AdmissionPolicies:
    """Both steps. `plugins` are for the chain, and `rights` for its end, `followers` for the pipeline that has that chain."""

    def __init__(self, reader: Reader, authorizer: UnionAuthorizer) -> None:
        self.rights = ParamRights(reader, authorizer)
        self._validating = ValidatingPolicies(reader)
        self._mutating = MutatingPolicies(reader)

    @property
    def plugins(self) -> Mapping[str, Step]:
        return {"ValidatingAdmissionPolicy": self._validating, "MutatingAdmissionPolicy": self._mutating}

    def followers(self, pipeline: Pipeline, chain: Chain) -> list[Picture]:
        self.rights.serve(pipeline)
        return [
            *Policies(pipeline, chain, self._validating, VALIDATING).followers,
            *Policies(pipeline, chain, self._mutating, MUTATING).followers,
        ]
