"""The steps that are on by default, in Kubernetes' order (`pkg/kubeapiserver/options/plugins.go`).

ResourceQuota is the last of all; webhooks and policies stand before it.
"""

from __future__ import annotations

from setpoint.kit.clock import Clock
from setpoint.registry.admission.certificate_subject_restriction import CertificateSubjectRestriction
from setpoint.registry.admission.chain import Chain
from setpoint.registry.admission.claim_resize import PersistentVolumeClaimResize
from setpoint.registry.admission.default_classes import default_ingress_class, default_storage_class
from setpoint.registry.admission.default_toleration_seconds import DefaultTolerationSeconds
from setpoint.registry.admission.limit_ranger import LimitRanger
from setpoint.registry.admission.namespace_lifecycle import NamespaceLifecycle
from setpoint.registry.admission.priority import Priority
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.resource_quota import Ledger, ResourceQuota
from setpoint.registry.admission.runtime_class import RuntimeClass
from setpoint.registry.admission.service_account import ServiceAccount
from setpoint.registry.admission.storage_object_in_use import StorageObjectInUseProtection
from setpoint.registry.admission.taint_nodes_by_condition import TaintNodesByCondition


def default_chain(
    reader: Reader,
    clock: Clock,
    *,
    not_ready_seconds: int = 300,
    unreachable_seconds: int = 300,
    ledger: Ledger | None = None,
) -> Chain:
    """`…_seconds`: how long pods stay on a node that is not ready or cannot be reached, unless they say so themselves.
    `ledger` is where quotas are charged; without one there are none.
    """
    return Chain(
        (
            NamespaceLifecycle(reader),
            LimitRanger(reader),
            ServiceAccount(reader, clock),
            TaintNodesByCondition(),
            Priority(reader),
            DefaultTolerationSeconds(not_ready_seconds, unreachable_seconds),
            default_storage_class(reader),
            StorageObjectInUseProtection(),
            PersistentVolumeClaimResize(reader),
            RuntimeClass(reader),
            CertificateSubjectRestriction(),
            default_ingress_class(reader),
            *(() if ledger is None else (ResourceQuota(reader, ledger, clock),)),
        )
    )
