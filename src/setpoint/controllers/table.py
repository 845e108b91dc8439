"""All controllers, by Kubernetes' names for them: the one list that the controller manager starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from setpoint.api.types import (
    admissionregistration_v1,
    apps_v1,
    autoscaling_v2,
    batch_v1,
    core_v1,
    networking_v1,
    resource_v1,
    storage_v1,
)
from setpoint.controllers import (
    cluster_role_aggregation,
    disruption_budget,
    flow_control,
    garbage_collector,
    namespace,
    node_lifecycle,
    node_ttl,
    persistent_volume,
    pod_gc,
    replication_controller,
    resource_quota,
    root_ca,
    service_account,
    taint_eviction,
)
from setpoint.controllers.bootstrap_tokens import cleaning as bootstrap_token_cleaning
from setpoint.controllers.bootstrap_tokens import signing as bootstrap_token_signing
from setpoint.controllers.certificates import approving, cleaning, signing
from setpoint.controllers.component import Component, Context
from setpoint.controllers.deployment import controller as deployment
from setpoint.controllers.lazy import always, lazy
from setpoint.controllers.persistent_volume import expanding
from setpoint.controllers.replicaset import controller as replicaset
from setpoint.controllers.service_account import tokens as service_account_tokens


def _deployment(context: Context) -> Component:
    return deployment.new(context.client, context.clock, context.informers, context.recorder(deployment.NAME))


def _replicaset(context: Context) -> Component:
    return replicaset.new(context.client, context.clock, context.informers, context.recorder(replicaset.NAME))


def _selects(service: core_v1.Service) -> bool:
    return bool(service.spec.selector)


def _is_tracked(pod: core_v1.Pod) -> bool:
    """A Job's pod, of which the Job may be gone."""
    return "batch.kubernetes.io/job-tracking" in pod.metadata.finalizers


def _has_ephemeral_volume(pod: core_v1.Pod) -> bool:
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def _has_claims(pod: core_v1.Pod) -> bool:
    return bool(pod.spec.resource_claims or pod.status.extended_resource_claim_status)


def _is_held(claim: resource_v1.ResourceClaim) -> bool:
    """Whoever has it, or had it when a finalizer was put there, may be gone, with nothing in the cluster that tells."""
    return bool(claim.status.reserved_for or claim.metadata.finalizers)


def _is_csi(volume: core_v1.PersistentVolume) -> bool:
    return volume.spec.csi is not None


def _names_secrets(account: core_v1.ServiceAccount) -> bool:
    """As accounts of old versions do."""
    return bool(account.secrets)


def _is_published(endpoints: core_v1.Endpoints) -> bool:
    """Any but the API server's own: those written by hand go with their Service, too."""
    return (endpoints.metadata.namespace, endpoints.metadata.name) != ("default", "kubernetes")


_LAZY = (
    lazy("cronjob-controller", "cronjob.controller", (batch_v1.CRONJOBS, always)),
    lazy("daemonset-controller", "daemonset.controller", (apps_v1.DAEMONSETS, always)),
    lazy("device-taint-eviction-controller", "device_taint_eviction", (core_v1.PODS, _has_claims)),
    lazy(
        "endpoints-controller",
        "endpoints",
        (core_v1.SERVICES, _selects),
        (core_v1.ENDPOINTS, _is_published),
        recorder="endpoint-controller",
    ),
    lazy(
        "endpointslice-controller",
        "endpoint_slice",
        (core_v1.SERVICES, _selects),
        recorder="endpoint-slice-controller",
    ),
    lazy("endpointslice-mirroring-controller", "endpoint_slice_mirroring", (core_v1.ENDPOINTS, always)),
    lazy(
        "ephemeral-volume-controller",
        "ephemeral_volume",
        (core_v1.PODS, _has_ephemeral_volume),
        recorder="ephemeral_volume",
    ),
    lazy(
        "horizontal-pod-autoscaler-controller",
        "horizontal_pod_autoscaler",
        (autoscaling_v2.HORIZONTALPODAUTOSCALERS, always),
        recorder="horizontal-pod-autoscaler",
    ),
    lazy("job-controller", "job.controller", (batch_v1.JOBS, always), (core_v1.PODS, _is_tracked)),
    lazy(
        "legacy-serviceaccount-token-cleaner-controller",
        "service_account.legacy_tokens",
        (core_v1.SERVICEACCOUNTS, _names_secrets),
    ),
    lazy(
        "persistentvolume-attach-detach-controller",
        "attach_detach",
        (core_v1.PERSISTENTVOLUMES, _is_csi),
        recorder="attachdetach-controller",
    ),
    lazy(
        "resourceclaim-controller",
        "resource_claim",
        (core_v1.PODS, _has_claims),
        (resource_v1.RESOURCECLAIMS, _is_held),
        recorder="resource_claim",
    ),
    lazy("service-cidr-controller", "service_cidrs", (networking_v1.SERVICECIDRS, always)),
    lazy("statefulset-controller", "statefulset.controller", (apps_v1.STATEFULSETS, always)),
    lazy("ttl-after-finished-controller", "ttl_after_finished", (batch_v1.JOBS, always)),
    lazy(
        "validatingadmissionpolicy-status-controller",
        "admission_policy_status",
        (admissionregistration_v1.VALIDATINGADMISSIONPOLICIES, always),
    ),
    lazy(
        "volumeattributesclass-protection-controller",
        "attributes_class_protection",
        (storage_v1.VOLUMEATTRIBUTESCLASSES, always),
    ),
)

_PROVISIONER = lazy(
    "host-path-provisioner",
    "host_path_provisioner",
    (core_v1.PERSISTENTVOLUMECLAIMS, always),
    (core_v1.PERSISTENTVOLUMES, always),
)


def _provisioner(context: Context) -> Component | None:
    return _PROVISIONER[1](context) if context.settings.volumes is not None else None


def _node_ipam(context: Context) -> Component | None:
    if not context.settings.pod_ranges:
        return None
    from setpoint.controllers import node_ipam

    return node_ipam.new(context)


# A function that gives None has nothing to do under these settings.
CONTROLLERS: Mapping[str, Callable[[Context], Component | None]] = {
    "bootstrap-signer-controller": bootstrap_token_signing.new,
    "certificatesigningrequest-approving-controller": approving.new,
    "certificatesigningrequest-cleaner-controller": cleaning.new,
    "certificatesigningrequest-signing-controller": signing.new,
    "clusterrole-aggregation-controller": cluster_role_aggregation.new,
    "deployment-controller": _deployment,
    "disruption-controller": disruption_budget.new,
    "garbage-collector-controller": garbage_collector.new,
    "host-path-provisioner": _provisioner,
    "namespace-controller": namespace.new,
    "node-ipam-controller": _node_ipam,
    "node-lifecycle-controller": node_lifecycle.new,
    "persistentvolume-binder-controller": persistent_volume.new,
    "persistentvolume-expander-controller": expanding.new,
    "persistentvolume-protection-controller": persistent_volume.new_volume_protection,
    "persistentvolumeclaim-protection-controller": persistent_volume.new_claim_protection,
    "pod-garbage-collector-controller": pod_gc.new,
    "priority-and-fairness-config-consumer": flow_control.new,
    "replicaset-controller": _replicaset,
    "replication-controller": replication_controller.new,
    "resourcequota-controller": resource_quota.new,
    "root-ca-certificate-publisher-controller": root_ca.new,
    "serviceaccount-controller": service_account.new,
    "serviceaccount-token-controller": service_account_tokens.new,
    "taint-eviction-controller": taint_eviction.new,
    "token-cleaner-controller": bootstrap_token_cleaning.new,
    "ttl-controller": node_ttl.new,
    **dict(_LAZY),
}
