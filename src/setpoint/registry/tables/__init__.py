"""How `kubectl get` prints every built-in kind: one literal table.

A kind that is missing here shows its name and when it was created. Cells are made from the stored version of an object.
Source: Kubernetes `pkg/printers/internalversion/printers.go` (columns, order, words).
"""

from __future__ import annotations

from setpoint.registry.resource import Table
from setpoint.registry.tables import access, core, network, pods, storage, workloads

TABLES: dict[tuple[str, str], Table] = {
    ("", "ComponentStatus"): core.COMPONENT_STATUS,
    ("", "ConfigMap"): core.CONFIG_MAP,
    ("", "Endpoints"): network.ENDPOINTS,
    ("", "Event"): core.EVENT,
    ("", "Namespace"): core.NAMESPACE,
    ("", "Node"): core.NODE,
    ("", "PersistentVolume"): storage.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): storage.PERSISTENT_VOLUME_CLAIM,
    ("", "Pod"): pods.POD,
    ("", "PodTemplate"): pods.POD_TEMPLATE,
    ("", "ReplicationController"): workloads.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): core.RESOURCE_QUOTA,
    ("", "Secret"): core.SECRET,
    ("", "Service"): network.SERVICE,
    ("", "ServiceAccount"): core.SERVICE_ACCOUNT,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): access.MUTATING_ADMISSION_POLICY,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): access.POLICY_BINDING,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): access.WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): access.VALIDATING_ADMISSION_POLICY,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): access.POLICY_BINDING,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): access.WEBHOOKS,
    ("apiregistration.k8s.io", "APIService"): access.API_SERVICE,
    ("apps", "ControllerRevision"): workloads.CONTROLLER_REVISION,
    ("apps", "DaemonSet"): workloads.DAEMON_SET,
    ("apps", "Deployment"): workloads.DEPLOYMENT,
    ("apps", "ReplicaSet"): workloads.REPLICA_SET,
    ("apps", "StatefulSet"): workloads.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): workloads.HORIZONTAL_POD_AUTOSCALER,
    ("autoscaling", "Scale"): workloads.SCALE,
    ("batch", "CronJob"): workloads.CRON_JOB,
    ("batch", "Job"): workloads.JOB,
    ("certificates.k8s.io", "CertificateSigningRequest"): access.CERTIFICATE_SIGNING_REQUEST,
    ("coordination.k8s.io", "Lease"): core.LEASE,
    ("discovery.k8s.io", "EndpointSlice"): network.ENDPOINT_SLICE,
    ("events.k8s.io", "Event"): core.EVENT,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): access.FLOW_SCHEMA,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): access.PRIORITY_LEVEL,
    ("networking.k8s.io", "IPAddress"): network.IP_ADDRESS,
    ("networking.k8s.io", "Ingress"): network.INGRESS,
    ("networking.k8s.io", "IngressClass"): network.INGRESS_CLASS,
    ("networking.k8s.io", "NetworkPolicy"): network.NETWORK_POLICY,
    ("networking.k8s.io", "ServiceCIDR"): network.SERVICE_CIDR,
    ("node.k8s.io", "RuntimeClass"): core.RUNTIME_CLASS,
    ("policy", "PodDisruptionBudget"): workloads.POD_DISRUPTION_BUDGET,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): access.CLUSTER_ROLE_BINDING,
    ("rbac.authorization.k8s.io", "RoleBinding"): access.ROLE_BINDING,
    ("resource.k8s.io", "DeviceClass"): access.NAMED,
    ("resource.k8s.io", "ResourceClaim"): access.RESOURCE_CLAIM,
    ("resource.k8s.io", "ResourceClaimTemplate"): access.NAMED,
    ("resource.k8s.io", "ResourceSlice"): access.RESOURCE_SLICE,
    ("scheduling.k8s.io", "PriorityClass"): core.PRIORITY_CLASS,
    ("storage.k8s.io", "CSIDriver"): storage.CSI_DRIVER,
    ("storage.k8s.io", "CSINode"): storage.CSI_NODE,
    ("storage.k8s.io", "StorageClass"): storage.STORAGE_CLASS,
    ("storage.k8s.io", "VolumeAttachment"): storage.VOLUME_ATTACHMENT,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.VOLUME_ATTRIBUTES_CLASS,
}
