"""Follows the configurations in the store. They are in force before the first request, changes from when they are seen."""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.apiserver.admission_webhooks.hooks import read_hooks
from setpoint.apiserver.admission_webhooks.mutating import MutatingWebhooks
from setpoint.apiserver.admission_webhooks.step import WebhookStep
from setpoint.apiserver.admission_webhooks.validating import ValidatingWebhooks
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.webhooks.identities import ANONYMOUS, Identities
from setpoint.registry.admission.chain import Chain, Step
from setpoint.registry.admission.matching import GROUP
from setpoint.registry.admission.reader import Reader
from setpoint.storage.following import Picture

MUTATING_PLUGIN, VALIDATING_PLUGIN = "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"
MUTATING, VALIDATING = "mutatingwebhookconfigurations", "validatingwebhookconfigurations"


class AdmissionWebhooks:
    """Both steps. `plugins` are for the chain, `followers` for the pipeline that has that chain.

    `users` tells, by the plugin's name, who the server is towards webhooks.
    """

    def __init__(self, reader: Reader, users: Mapping[str, Identities]) -> None:
        self._mutating = MutatingWebhooks(reader, users.get(MUTATING_PLUGIN, ANONYMOUS))
        self._validating = ValidatingWebhooks(reader, users.get(VALIDATING_PLUGIN, ANONYMOUS))

    @property
    def plugins(self) -> Mapping[str, Step]:
        return {MUTATING_PLUGIN: self._mutating, VALIDATING_PLUGIN: self._validating}

    def followers(self, pipeline: Pipeline, chain: Chain) -> list[Picture]:
        return [
            _configurations(pipeline, chain, self._mutating, MUTATING),
            _configurations(pipeline, chain, self._validating, VALIDATING),
        ]


def _configurations(pipeline: Pipeline, chain: Chain, step: WebhookStep, plural: str) -> Picture:
    """The configurations of one kind, put into force in the step that they are for."""

    def enforce() -> None:
        step.hooks = read_hooks(list(found.objects.values()), "admit" if plural == MUTATING else "validate")
        chain.changed()

    step.serve(pipeline)
    found = Picture(pipeline.store, pipeline.clock, f"{plural}.{GROUP}/", enforce)
    return found
