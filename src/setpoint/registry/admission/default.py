"""The steps that are on by default, in Kubernetes' order (`pkg/kubeapiserver/options/plugins.go`, AllOrderedPlugins).

All of them see an object that may still change in this order, and in this order once more the one that will be stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from setpoint.kit.clock import Clock
from setpoint.registry.admission.certificate_subject_restriction import CertificateSubjectRestriction
from setpoint.registry.admission.chain import Chain, Step
from setpoint.registry.admission.claim_resize import PersistentVolumeClaimResize
from setpoint.registry.admission.default_classes import default_ingress_class, default_storage_class
from setpoint.registry.admission.default_toleration_seconds import DefaultTolerationSeconds
from setpoint.registry.admission.limit_ranger import LimitRanger
from setpoint.registry.admission.namespace_lifecycle import NamespaceLifecycle
from setpoint.registry.admission.pod_security.step import PodSecurity
from setpoint.registry.admission.pod_topology_labels import PodTopologyLabels
from setpoint.registry.admission.pod_updates import NodeDeclaredFeatureValidator, PodResizeValidator
from setpoint.registry.admission.priority import Priority
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.resource_quota import Ledger, ResourceQuota
from setpoint.registry.admission.runtime_class import RuntimeClass
from setpoint.registry.admission.service_account import ServiceAccount
from setpoint.registry.admission.storage_object_in_use import StorageObjectInUseProtection
from setpoint.registry.admission.taint_nodes_by_condition import TaintNodesByCondition

#: every plugin that Kubernetes 1.36 switches on by itself, and NodeRestriction, which every cluster has
ORDER = (
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "PodTopologyLabels",
    "NodeDeclaredFeatureValidator",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
)


def default_chain(
    reader: Reader,
    clock: Clock,
    *,
    not_ready_seconds: int = 300,
    unreachable_seconds: int = 300,
    ledger: Ledger | None = None,
    plugins: Mapping[str, Step] | None = None,
    last: Sequence[Step] = (),
    disabled: Collection[str] = (),
) -> Chain:
    """`…_seconds`: how long pods stay on a node that is not ready or cannot be reached, unless they say so themselves.
    `ledger` is where quotas are charged; without one there are none. `plugins` are those that need more than a reader, by name;
    `last` are checks behind all plugins, which Kubernetes does where it stores. `disabled` are names of plugins to do without.
    """
    steps: dict[str, Step] = {
        "NamespaceLifecycle": NamespaceLifecycle(reader),
        "LimitRanger": LimitRanger(reader),
        "ServiceAccount": ServiceAccount(reader, clock),
        "TaintNodesByCondition": TaintNodesByCondition(),
        "PodSecurity": PodSecurity(reader),
        "Priority": Priority(reader),
        "DefaultTolerationSeconds": DefaultTolerationSeconds(not_ready_seconds, unreachable_seconds),
        "DefaultStorageClass": default_storage_class(reader),
        "StorageObjectInUseProtection": StorageObjectInUseProtection(),
        "PersistentVolumeClaimResize": PersistentVolumeClaimResize(reader),
        "RuntimeClass": RuntimeClass(reader),
        "CertificateSubjectRestriction": CertificateSubjectRestriction(),
        "DefaultIngressClass": default_ingress_class(reader),
        "PodTopologyLabels": PodTopologyLabels(reader),
        "NodeDeclaredFeatureValidator": NodeDeclaredFeatureValidator(reader),
        "PodResizeValidator": PodResizeValidator(reader),
        **(plugins or {}),
    }
    if ledger is not None:
        steps["ResourceQuota"] = ResourceQuota(reader, ledger, clock)
    return Chain({name: steps[name] for name in ORDER if name in steps and name not in disabled}, last)
