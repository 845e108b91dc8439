"""All controllers, by Kubernetes' names for them: the one list that the controller manager starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from setpoint.controllers import (
    cluster_role_aggregation,
    disruption_budget,
    endpoint_slice,
    endpoint_slice_mirroring,
    endpoints,
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
    ttl_after_finished,
)
from setpoint.controllers.bootstrap_tokens import cleaning as bootstrap_token_cleaning
from setpoint.controllers.bootstrap_tokens import signing as bootstrap_token_signing
from setpoint.controllers.certificates import approving, cleaning, signing
from setpoint.controllers.component import Component, Context
from setpoint.controllers.cronjob import controller as cronjob
from setpoint.controllers.daemonset import controller as daemonset
from setpoint.controllers.deployment import controller as deployment
from setpoint.controllers.job import controller as job
from setpoint.controllers.replicaset import controller as replicaset
from setpoint.controllers.service_account import tokens as service_account_tokens
from setpoint.controllers.statefulset import controller as statefulset


def _deployment(context: Context) -> Component:
    return deployment.new(context.client, context.clock, context.informers, context.recorder(deployment.NAME))


def _replicaset(context: Context) -> Component:
    return replicaset.new(context.client, context.clock, context.informers, context.recorder(replicaset.NAME))


# A function that gives None has nothing to do under these settings.
CONTROLLERS: Mapping[str, Callable[[Context], Component | None]] = {
    "bootstrap-signer-controller": bootstrap_token_signing.new,
    "certificatesigningrequest-approving-controller": approving.new,
    "certificatesigningrequest-cleaner-controller": cleaning.new,
    "certificatesigningrequest-signing-controller": signing.new,
    "clusterrole-aggregation-controller": cluster_role_aggregation.new,
    "cronjob-controller": cronjob.new,
    "daemonset-controller": daemonset.new,
    "deployment-controller": _deployment,
    "disruption-controller": disruption_budget.new,
    "endpoints-controller": endpoints.new,
    "endpointslice-controller": endpoint_slice.new,
    "endpointslice-mirroring-controller": endpoint_slice_mirroring.new,
    "garbage-collector-controller": garbage_collector.new,
    "job-controller": job.new,
    "namespace-controller": namespace.new,
    "node-lifecycle-controller": node_lifecycle.new,
    "persistentvolume-binder-controller": persistent_volume.new,
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
    "statefulset-controller": statefulset.new,
    "taint-eviction-controller": taint_eviction.new,
    "token-cleaner-controller": bootstrap_token_cleaning.new,
    "ttl-after-finished-controller": ttl_after_finished.new,
    "ttl-controller": node_ttl.new,
}
