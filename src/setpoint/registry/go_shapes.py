"""The fields of Kubernetes' internal types that messages print, in Go's order (see `go_form` for the notation)."""

from __future__ import annotations

_CONTAINER = (
    "Name Image Command~ Args~ WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar Resources.ResourceRequirements"
    " ResizePolicy[]ContainerResizePolicy RestartPolicy~ RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount"
    " VolumeDevices[]VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe StartupProbe*Probe Lifecycle*Lifecycle"
    " TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext*SecurityContext Stdin? StdinOnce? TTY?"
)

SHAPES: dict[str, str] = {
    "PodSpec": (
        "Volumes[]Volume InitContainers[]Container Containers[]Container EphemeralContainers[]EphemeralContainer RestartPolicy"
        " TerminationGracePeriodSeconds~ ActiveDeadlineSeconds~ DNSPolicy NodeSelector~ ServiceAccountName"
        " AutomountServiceAccountToken~ NodeName SecurityContext*PodSecurityContext ImagePullSecrets[]LocalObjectReference"
        " Hostname Subdomain SetHostnameAsFQDN~ Affinity*Affinity SchedulerName Tolerations[]Toleration HostAliases[]HostAlias"
        " PriorityClassName Priority~ PreemptionPolicy~ DNSConfig*PodDNSConfig ReadinessGates[]PodReadinessGate RuntimeClassName~"
        " Overhead~ EnableServiceLinks~ TopologySpreadConstraints[]TopologySpreadConstraint OS*Named SchedulingGates[]Named"
        " ResourceClaims[]PodResourceClaim Resources*ResourceRequirements HostnameOverride~ SchedulingGroup*PodSchedulingGroup"
    ),
    "PodSecurityContext": (
        "HostNetwork? HostPID? HostIPC? ShareProcessNamespace~ HostUsers~ SELinuxOptions*SELinuxOptions"
        " WindowsOptions*WindowsSecurityContextOptions RunAsUser~ RunAsGroup~ RunAsNonRoot~ SupplementalGroups~"
        " SupplementalGroupsPolicy~ FSGroup~ FSGroupChangePolicy~ Sysctls[]NameValue SeccompProfile*Profile"
        " AppArmorProfile*Profile SELinuxChangePolicy~"
    ),
    "SecurityContext": (
        "Capabilities*Capabilities Privileged~ SELinuxOptions*SELinuxOptions WindowsOptions*WindowsSecurityContextOptions"
        " RunAsUser~ RunAsGroup~ RunAsNonRoot~ ReadOnlyRootFilesystem~ AllowPrivilegeEscalation~ ProcMount~"
        " SeccompProfile*Profile AppArmorProfile*Profile"
    ),
    "Container": _CONTAINER,
    "EphemeralContainer": _CONTAINER + " TargetContainerName",
    "DeploymentStrategy": "Type RollingUpdate*RollingUpdateDeployment",
    "RollingUpdateDeployment": "MaxUnavailable~ MaxSurge~",
    "StatefulSetUpdateStrategy": "Type RollingUpdate*RollingUpdateStatefulSetStrategy",
    "RollingUpdateStatefulSetStrategy": "Partition# MaxUnavailable~",
    "DaemonSetUpdateStrategy": "Type RollingUpdate*RollingUpdateDeployment",
    "PodFailurePolicy": "Rules[]PodFailurePolicyRule",
    "PodFailurePolicyRule": "Action OnExitCodes*OnExitCodes OnPodConditions[]OnPodCondition",
    "OnExitCodes": "ContainerName~ Operator Values~",
    "OnPodCondition": "Type Status",
    "SuccessPolicy": "Rules[]SuccessPolicyRule",
    "SuccessPolicyRule": "SucceededIndexes~ SucceededCount~",
    "PodDisruptionBudgetSpec": "MinAvailable~ Selector~ MaxUnavailable~ UnhealthyPodEvictionPolicy~",
    "ScopeSelector": "MatchExpressions[]ScopeSelectorRequirement",
    "ScopeSelectorRequirement": "ScopeName Operator Values~",
    "PersistentVolumeClaimSpec": (
        "AccessModes~ Selector~ Resources.VolumeResourceRequirements VolumeName StorageClassName~ VolumeMode~ DataSource~"
        " DataSourceRef~ VolumeAttributesClassName~"
    ),
    "VolumeResourceRequirements": "Limits~ Requests~",
    "PersistentVolumeSource": (
        "GCEPersistentDisk~ AWSElasticBlockStore~ HostPath*HostPathVolumeSource Glusterfs~ NFS*NFSVolumeSource RBD~ Quobyte~"
        " ISCSI~ FlexVolume~ Cinder~ CephFS:cephfs~ FC~ Flocker~ AzureFile~ VsphereVolume~ AzureDisk~ PhotonPersistentDisk~"
        " PortworxVolume~ ScaleIO~ Local~ StorageOS:storageos~ CSI~"
    ),
    "Named": "Name",
    "NameValue": "Name Value",
    "Capabilities": "Add~ Drop~",
    "SELinuxOptions": "User Role Type Level",
    "WindowsSecurityContextOptions": "GMSACredentialSpecName~ GMSACredentialSpec~ RunAsUserName~ HostProcess~",
    "Profile": "Type LocalhostProfile~",
    "ContainerPort": "Name HostPort# ContainerPort# Protocol HostIP",
    "EnvVar": "Name Value ValueFrom*EnvVarSource",
    "EnvVarSource": (
        "FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector ConfigMapKeyRef*KeySelector SecretKeyRef*KeySelector"
        " FileKeyRef*FileKeySelector"
    ),
    "ObjectFieldSelector": "APIVersion FieldPath",
    "ResourceFieldSelector": "ContainerName Resource Divisor",
    "KeySelector": "Name Key Optional~",
    "FileKeySelector": "VolumeName Path Key Optional~",
    "EnvFromSource": "Prefix ConfigMapRef*EnvSource SecretRef*EnvSource",
    "EnvSource": "Name Optional~",
    "ResourceRequirements": "Limits~ Requests~ Claims[]ResourceClaim",
    "ResourceClaim": "Name Request",
    "ContainerResizePolicy": "ResourceName RestartPolicy",
    "ContainerRestartRule": "Action ExitCodes*ContainerRestartRuleOnExitCodes",
    "ContainerRestartRuleOnExitCodes": "Operator Values~",
    "VolumeMount": "Name ReadOnly? RecursiveReadOnly~ MountPath SubPath MountPropagation~ SubPathExpr",
    "VolumeDevice": "Name DevicePath",
    "Probe": (
        "Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction GRPC*GRPCAction InitialDelaySeconds# TimeoutSeconds#"
        " PeriodSeconds# SuccessThreshold# FailureThreshold# TerminationGracePeriodSeconds~"
    ),
    "Lifecycle": "PostStart*LifecycleHandler PreStop*LifecycleHandler StopSignal~",
    "LifecycleHandler": "Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction Sleep*SleepAction",
    "ExecAction": "Command~",
    "HTTPGetAction": "Path Port# Host Scheme HTTPHeaders[]NameValue",
    "TCPSocketAction": "Port# Host",
    "GRPCAction": "Port# Service~",
    "SleepAction": "Seconds#",
    "LocalObjectReference": "Name",
    "ObjectReference": "Kind Namespace Name UID APIVersion ResourceVersion FieldPath",
    "EventSource": "Component Host",
    "Affinity": "NodeAffinity*NodeAffinity PodAffinity*PodAffinity PodAntiAffinity*PodAffinity",
    "NodeAffinity": (
        "RequiredDuringSchedulingIgnoredDuringExecution*NodeSelector"
        " PreferredDuringSchedulingIgnoredDuringExecution[]PreferredSchedulingTerm"
    ),
    "NodeSelector": "NodeSelectorTerms[]NodeSelectorTerm",
    "NodeSelectorTerm": "MatchExpressions[]NodeSelectorRequirement MatchFields[]NodeSelectorRequirement",
    "NodeSelectorRequirement": "Key Operator Values~",
    "PreferredSchedulingTerm": "Weight# Preference.NodeSelectorTerm",
    "PodAffinity": (
        "RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm"
        " PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm"
    ),
    "PodAffinityTerm": "LabelSelector~ Namespaces~ TopologyKey NamespaceSelector~ MatchLabelKeys~ MismatchLabelKeys~",
    "WeightedPodAffinityTerm": "Weight# PodAffinityTerm.PodAffinityTerm",
    "Toleration": "Key Operator Value Effect TolerationSeconds~",
    "HostAlias": "IP Hostnames~",
    "PodDNSConfig": "Nameservers~ Searches~ Options[]PodDNSConfigOption",
    "PodDNSConfigOption": "Name Value~",
    "PodReadinessGate": "ConditionType",
    "TopologySpreadConstraint": (
        "MaxSkew# TopologyKey WhenUnsatisfiable LabelSelector~ MinDomains~ NodeAffinityPolicy~ NodeTaintsPolicy~ MatchLabelKeys~"
    ),
    "PodResourceClaim": "Name ResourceClaimName~ ResourceClaimTemplateName~",
    "PodSchedulingGroup": "PodGroupName~",
    "IP": "IP",
    "Taint": "Key Value Effect TimeAdded~",
    "NodeAddress": "Type Address",
    "ServicePort": "Name Protocol AppProtocol~ Port# TargetPort# NodePort#",
    "Volume": (
        "Name HostPath*HostPathVolumeSource EmptyDir*EmptyDirVolumeSource GCEPersistentDisk~ AWSElasticBlockStore~ GitRepo~"
        " Secret*SecretVolumeSource NFS*NFSVolumeSource ISCSI~ Glusterfs~ PersistentVolumeClaim*ClaimVolumeSource RBD~ Quobyte~"
        " FlexVolume~ Cinder~ CephFS:cephfs~ Flocker~ DownwardAPI*DownwardAPIVolumeSource FC~ AzureFile~"
        " ConfigMap*ConfigMapVolumeSource VsphereVolume~ AzureDisk~ PhotonPersistentDisk~ Projected*ProjectedVolumeSource"
        " PortworxVolume~ ScaleIO~ StorageOS:storageos~ CSI~ Ephemeral~ Image*ImageVolumeSource"
    ),
    "HostPathVolumeSource": "Path Type~",
    "EmptyDirVolumeSource": "Medium SizeLimit~",
    "SecretVolumeSource": "SecretName Items[]KeyToPath DefaultMode~ Optional~",
    "ConfigMapVolumeSource": "Name Items[]KeyToPath DefaultMode~ Optional~",
    "KeyToPath": "Key Path Mode~",
    "NFSVolumeSource": "Server Path ReadOnly?",
    "ClaimVolumeSource": "ClaimName ReadOnly?",
    "DownwardAPIVolumeSource": "Items[]DownwardAPIVolumeFile DefaultMode~",
    "DownwardAPIVolumeFile": "Path FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector Mode~",
    "ProjectedVolumeSource": "Sources[]VolumeProjection DefaultMode~",
    "VolumeProjection": (
        "Secret*Projection DownwardAPI*DownwardAPIProjection ConfigMap*Projection ServiceAccountToken*TokenProjection"
        " ClusterTrustBundle*ClusterTrustBundleProjection PodCertificate~"
    ),
    "Projection": "Name Items[]KeyToPath Optional~",
    "DownwardAPIProjection": "Items[]DownwardAPIVolumeFile",
    "TokenProjection": "Audience ExpirationSeconds# Path",
    "ClusterTrustBundleProjection": "Name~ SignerName~ LabelSelector~ Optional~ Path",
    "ImageVolumeSource": "Reference PullPolicy",
    "ParentReference": "Group Resource Namespace Name",
    "CSINodeDriver": "Name NodeID TopologyKeys~ Allocatable*VolumeNodeResources",
    "VolumeNodeResources": "Count~",
    "VolumeAttachmentSpec": "Attacher Source.VolumeAttachmentSource NodeName",
    "VolumeAttachmentSource": "PersistentVolumeName~ InlineVolumeSpec~",
    "PriorityLevelConfigurationSpec": "Type Limited*LimitedPriorityLevel Exempt*ExemptPriorityLevel",
    "LimitedPriorityLevel": "NominalConcurrencyShares# LimitResponse.LimitResponse LendablePercent~ BorrowingLimitPercent~",
    "LimitResponse": "Type Queuing*QueuingConfiguration",
    "QueuingConfiguration": "Queues# HandSize# QueueLengthLimit#",
    "ExemptPriorityLevel": "NominalConcurrencyShares~ LendablePercent~",
    "FlowSchemaSpec": (
        "PriorityLevelConfiguration.Named MatchingPrecedence# DistinguisherMethod*FlowDistinguisherMethod"
        " Rules[]PolicyRulesWithSubjects"
    ),
    "FlowDistinguisherMethod": "Type",
    "PolicyRulesWithSubjects": (
        "Subjects[]FlowSubject ResourceRules[]ResourcePolicyRule NonResourceRules[]NonResourcePolicyRule"
    ),
    "FlowSubject": "Kind User*Named Group*Named ServiceAccount*FlowServiceAccount",
    "FlowServiceAccount": "Namespace Name",
    "ResourcePolicyRule": "Verbs~ APIGroups~ Resources~ ClusterScope? Namespaces~",
    "NonResourcePolicyRule": "Verbs~ NonResourceURLs:nonResourceURLs~",
    "ResourceClaimSpec": "Devices.DeviceClaim",
    "DeviceClaim": "Requests[]DeviceRequest Constraints[]DeviceConstraint Config[]DeviceClaimConfiguration",
    "DeviceRequest": "Name Exactly*ExactDeviceRequest FirstAvailable[]DeviceSubRequest",
    "ExactDeviceRequest": (
        "DeviceClassName Selectors[]DeviceSelector AllocationMode Count# AdminAccess~ Tolerations[]DeviceToleration"
        " Capacity*CapacityRequirements"
    ),
    "DeviceSubRequest": (
        "Name DeviceClassName Selectors[]DeviceSelector AllocationMode Count# Tolerations[]DeviceToleration"
        " Capacity*CapacityRequirements"
    ),
    "DeviceSelector": "CEL*CELDeviceSelector",
    "CELDeviceSelector": "Expression",
    "DeviceToleration": "Key Operator Value Effect TolerationSeconds~",
    "CapacityRequirements": "Requests~",
    "DeviceConstraint": "Requests~ MatchAttribute~ DistinctAttribute~",
    "DeviceClaimConfiguration": "Requests~ Opaque*OpaqueDeviceConfiguration",
    "OpaqueDeviceConfiguration": "Driver Parameters~",
    "AllocationResult": "Devices.DeviceAllocationResult NodeSelector*NodeSelector AllocationTimestamp~",
    "DeviceAllocationResult": "Results[]DeviceRequestAllocationResult Config[]DeviceAllocationConfiguration",
    "DeviceRequestAllocationResult": (
        "Request Driver Pool Device AdminAccess~ Tolerations[]DeviceToleration BindingConditions~ BindingFailureConditions~"
        " ShareID~ ConsumedCapacity~"
    ),
    "DeviceAllocationConfiguration": "Source Requests~ Opaque*OpaqueDeviceConfiguration",
    "DeviceAttribute": (
        "IntValue:int~ BoolValue:bool~ StringValue:string~ VersionValue:version~ IntValues:ints~ BoolValues:bools~"
        " StringValues:strings~ VersionValues:versions~"
    ),
    "CustomResourceDefinitionVersion": (
        "Name Served? Storage? Deprecated? DeprecationWarning~"
        " Schema:hoisted~ Subresources:hoisted~ AdditionalPrinterColumns:hoisted~ SelectableFields:hoisted~"
    ),
}
