"""The Go structs that a pod template is made of: names, order and types of their fields.

One entry per struct: fields in the order of declaration, as `Name type`, or `Name:json type` where the JSON name is not simply
the name with a small first letter; `+Name type` is embedded without a name of its own in JSON. Types without a package are v1's.
Source: `k8s.io/api/core/v1/types.go` and `k8s.io/apimachinery/pkg/apis/meta/v1/types.go` of 1.36. Ephemeral containers are
left out: templates have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_PLAIN = {"string", "bool", "int32", "int64"}


@dataclass(frozen=True, slots=True)
class Field:
    """`inline`: its members stand beside its siblings in JSON."""

    name: str
    type: str
    json: str
    inline: bool = False


@cache
def fields_of(struct: str) -> tuple[Field, ...]:
    """The fields of a struct of the table, in order."""
    return tuple(_field(text) for text in STRUCTS[struct].split(","))


def _field(text: str) -> Field:
    name, go_type = text.split()
    inline = name.startswith("+")
    name, _, json = name.removeprefix("+").partition(":")
    return Field(name, _qualified(go_type), json or name[0].lower() + name[1:], inline)


def _qualified(go_type: str) -> str:
    """`[]Volume` → `[]v1.Volume`; Go's own types and those of other packages stay."""
    match = re.fullmatch(r"(\*|\[\])?(\w+)", go_type)
    if match is None or match[2] in _PLAIN:
        return go_type
    return f"{match[1] or ''}v1.{match[2]}"


_OPTIONAL_KEYS = "+LocalObjectReference LocalObjectReference, Key string, Optional *bool"
_OPTIONAL_REFERENCE = "+LocalObjectReference LocalObjectReference, Optional *bool"
_OPTIONAL_ITEMS = "+LocalObjectReference LocalObjectReference, Items []KeyToPath, Optional *bool"
_SECURITY = "SELinuxOptions:seLinuxOptions *SELinuxOptions, WindowsOptions *WindowsSecurityContextOptions"
_USER = "RunAsUser *int64, RunAsGroup *int64, RunAsNonRoot *bool"
_AFFINITY = (
    "RequiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, "
    "PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm"
)

_TEMPLATE = {
    "PodTemplateSpec": "ObjectMeta:metadata ObjectMeta, Spec PodSpec",
    "ObjectMeta": "Name string, GenerateName string, Namespace string, SelfLink string, UID:uid types.UID, "
    "ResourceVersion string, Generation int64, CreationTimestamp Time, DeletionTimestamp *Time, "
    "DeletionGracePeriodSeconds *int64, Labels map[string]string, Annotations map[string]string, "
    "OwnerReferences []OwnerReference, Finalizers []string, ManagedFields []ManagedFieldsEntry",
    "OwnerReference": "APIVersion:apiVersion string, Kind string, Name string, UID:uid types.UID, Controller *bool, "
    "BlockOwnerDeletion *bool",
    "PodSpec": "Volumes []Volume, InitContainers []Container, Containers []Container, "
    "EphemeralContainers []EphemeralContainer, RestartPolicy RestartPolicy, TerminationGracePeriodSeconds *int64, "
    "ActiveDeadlineSeconds *int64, DNSPolicy:dnsPolicy DNSPolicy, NodeSelector map[string]string, "
    "ServiceAccountName string, DeprecatedServiceAccount:serviceAccount string, AutomountServiceAccountToken *bool, "
    "NodeName string, HostNetwork bool, HostPID bool, HostIPC bool, ShareProcessNamespace *bool, "
    "SecurityContext *PodSecurityContext, ImagePullSecrets []LocalObjectReference, Hostname string, Subdomain string, "
    "Affinity *Affinity, SchedulerName string, Tolerations []Toleration, HostAliases []HostAlias, "
    "PriorityClassName string, Priority *int32, DNSConfig:dnsConfig *PodDNSConfig, ReadinessGates []PodReadinessGate, "
    "RuntimeClassName *string, EnableServiceLinks *bool, PreemptionPolicy *PreemptionPolicy, Overhead ResourceList, "
    "TopologySpreadConstraints []TopologySpreadConstraint, SetHostnameAsFQDN *bool, OS:os *PodOS, HostUsers *bool, "
    "SchedulingGates []PodSchedulingGate, ResourceClaims []PodResourceClaim, Resources *ResourceRequirements, "
    "HostnameOverride *string, SchedulingGroup *PodSchedulingGroup",
    "PodSecurityContext": f"{_SECURITY}, {_USER}, SupplementalGroups []int64, "
    "SupplementalGroupsPolicy *SupplementalGroupsPolicy, FSGroup:fsGroup *int64, Sysctls []Sysctl, "
    "FSGroupChangePolicy:fsGroupChangePolicy *PodFSGroupChangePolicy, SeccompProfile *SeccompProfile, "
    "AppArmorProfile *AppArmorProfile, SELinuxChangePolicy:seLinuxChangePolicy *PodSELinuxChangePolicy",
    "Sysctl": "Name string, Value string",
    "LocalObjectReference": "Name string",
    "HostAlias": "IP:ip string, Hostnames []string",
    "PodDNSConfig": "Nameservers []string, Searches []string, Options []PodDNSConfigOption",
    "PodDNSConfigOption": "Name string, Value *string",
    "PodReadinessGate": "ConditionType PodConditionType",
    "PodOS": "Name OSName",
    "PodSchedulingGate": "Name string",
    "PodResourceClaim": "Name string, ResourceClaimName *string, ResourceClaimTemplateName *string",
    "PodSchedulingGroup": "PodGroupName *string",
}

_CONTAINER = {
    "Container": "Name string, Image string, Command []string, Args []string, WorkingDir string, Ports []ContainerPort, "
    "EnvFrom []EnvFromSource, Env []EnvVar, Resources ResourceRequirements, ResizePolicy []ContainerResizePolicy, "
    "RestartPolicy *ContainerRestartPolicy, RestartPolicyRules []ContainerRestartRule, VolumeMounts []VolumeMount, "
    "VolumeDevices []VolumeDevice, LivenessProbe *Probe, ReadinessProbe *Probe, StartupProbe *Probe, "
    "Lifecycle *Lifecycle, TerminationMessagePath string, TerminationMessagePolicy TerminationMessagePolicy, "
    "ImagePullPolicy PullPolicy, SecurityContext *SecurityContext, Stdin bool, StdinOnce bool, TTY:tty bool",
    "ContainerPort": "Name string, HostPort int32, ContainerPort int32, Protocol Protocol, HostIP string",
    "EnvFromSource": "Prefix string, ConfigMapRef *ConfigMapEnvSource, SecretRef *SecretEnvSource",
    "ConfigMapEnvSource": _OPTIONAL_REFERENCE,
    "SecretEnvSource": _OPTIONAL_REFERENCE,
    "EnvVar": "Name string, Value string, ValueFrom *EnvVarSource",
    "EnvVarSource": "FieldRef *ObjectFieldSelector, ResourceFieldRef *ResourceFieldSelector, "
    "ConfigMapKeyRef *ConfigMapKeySelector, SecretKeyRef *SecretKeySelector, FileKeyRef *FileKeySelector",
    "ObjectFieldSelector": "APIVersion:apiVersion string, FieldPath string",
    "ResourceFieldSelector": "ContainerName string, Resource string, Divisor resource.Quantity",
    "ConfigMapKeySelector": _OPTIONAL_KEYS,
    "SecretKeySelector": _OPTIONAL_KEYS,
    "FileKeySelector": "VolumeName string, Path string, Key string, Optional *bool",
    "ResourceRequirements": "Limits ResourceList, Requests ResourceList, Claims []ResourceClaim",
    "ResourceClaim": "Name string, Request string",
    "ContainerResizePolicy": "ResourceName ResourceName, RestartPolicy ResourceResizeRestartPolicy",
    "ContainerRestartRule": "Action ContainerRestartRuleAction, ExitCodes *ContainerRestartRuleOnExitCodes",
    "ContainerRestartRuleOnExitCodes": "Operator ContainerRestartRuleOnExitCodesOperator, Values []int32",
    "VolumeMount": "Name string, ReadOnly bool, RecursiveReadOnly *RecursiveReadOnlyMode, MountPath string, "
    "SubPath string, MountPropagation *MountPropagationMode, SubPathExpr string",
    "VolumeDevice": "Name string, DevicePath string",
    "Probe": "+ProbeHandler ProbeHandler, InitialDelaySeconds int32, TimeoutSeconds int32, PeriodSeconds int32, "
    "SuccessThreshold int32, FailureThreshold int32, TerminationGracePeriodSeconds *int64",
    "ProbeHandler": "Exec *ExecAction, HTTPGet:httpGet *HTTPGetAction, TCPSocket:tcpSocket *TCPSocketAction, "
    "GRPC:grpc *GRPCAction",
    "ExecAction": "Command []string",
    "HTTPGetAction": "Path string, Port intstr.IntOrString, Host string, Scheme URIScheme, HTTPHeaders:httpHeaders []HTTPHeader",
    "HTTPHeader": "Name string, Value string",
    "TCPSocketAction": "Port intstr.IntOrString, Host string",
    "GRPCAction": "Port int32, Service *string",
    "Lifecycle": "PostStart *LifecycleHandler, PreStop *LifecycleHandler, StopSignal *Signal",
    "LifecycleHandler": "Exec *ExecAction, HTTPGet:httpGet *HTTPGetAction, TCPSocket:tcpSocket *TCPSocketAction, "
    "Sleep *SleepAction",
    "SleepAction": "Seconds int64",
    "SecurityContext": f"Capabilities *Capabilities, Privileged *bool, {_SECURITY}, {_USER}, "
    "ReadOnlyRootFilesystem *bool, AllowPrivilegeEscalation *bool, ProcMount *ProcMountType, "
    "SeccompProfile *SeccompProfile, AppArmorProfile *AppArmorProfile",
    "Capabilities": "Add []Capability, Drop []Capability",
    "SELinuxOptions": "User string, Role string, Type string, Level string",
    "WindowsSecurityContextOptions": "GMSACredentialSpecName:gmsaCredentialSpecName *string, "
    "GMSACredentialSpec:gmsaCredentialSpec *string, RunAsUserName *string, HostProcess *bool",
    "SeccompProfile": "Type SeccompProfileType, LocalhostProfile *string",
    "AppArmorProfile": "Type AppArmorProfileType, LocalhostProfile *string",
}

_PLACEMENT = {
    "Affinity": "NodeAffinity *NodeAffinity, PodAffinity *PodAffinity, PodAntiAffinity *PodAntiAffinity",
    "NodeAffinity": "RequiredDuringSchedulingIgnoredDuringExecution *NodeSelector, "
    "PreferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm",
    "NodeSelector": "NodeSelectorTerms []NodeSelectorTerm",
    "NodeSelectorTerm": "MatchExpressions []NodeSelectorRequirement, MatchFields []NodeSelectorRequirement",
    "NodeSelectorRequirement": "Key string, Operator NodeSelectorOperator, Values []string",
    "PreferredSchedulingTerm": "Weight int32, Preference NodeSelectorTerm",
    "PodAffinity": _AFFINITY,
    "PodAntiAffinity": _AFFINITY,
    "PodAffinityTerm": "LabelSelector *LabelSelector, Namespaces []string, TopologyKey string, "
    "NamespaceSelector *LabelSelector, MatchLabelKeys []string, MismatchLabelKeys []string",
    "WeightedPodAffinityTerm": "Weight int32, PodAffinityTerm PodAffinityTerm",
    "LabelSelector": "MatchLabels map[string]string, MatchExpressions []LabelSelectorRequirement",
    "LabelSelectorRequirement": "Key string, Operator LabelSelectorOperator, Values []string",
    "Toleration": "Key string, Operator TolerationOperator, Value string, Effect TaintEffect, TolerationSeconds *int64",
    "TopologySpreadConstraint": "MaxSkew int32, TopologyKey string, WhenUnsatisfiable UnsatisfiableConstraintAction, "
    "LabelSelector *LabelSelector, MinDomains *int32, NodeAffinityPolicy *NodeInclusionPolicy, "
    "NodeTaintsPolicy *NodeInclusionPolicy, MatchLabelKeys []string",
}

_VOLUME = {
    "Volume": "Name string, +VolumeSource VolumeSource",
    "VolumeSource": "HostPath *HostPathVolumeSource, EmptyDir *EmptyDirVolumeSource, "
    "GCEPersistentDisk:gcePersistentDisk *GCEPersistentDiskVolumeSource, "
    "AWSElasticBlockStore:awsElasticBlockStore *AWSElasticBlockStoreVolumeSource, GitRepo *GitRepoVolumeSource, "
    "Secret *SecretVolumeSource, NFS:nfs *NFSVolumeSource, ISCSI:iscsi *ISCSIVolumeSource, "
    "Glusterfs *GlusterfsVolumeSource, PersistentVolumeClaim *PersistentVolumeClaimVolumeSource, "
    "RBD:rbd *RBDVolumeSource, FlexVolume *FlexVolumeSource, Cinder *CinderVolumeSource, CephFS:cephfs *CephFSVolumeSource, "
    "Flocker *FlockerVolumeSource, DownwardAPI *DownwardAPIVolumeSource, FC:fc *FCVolumeSource, "
    "AzureFile *AzureFileVolumeSource, ConfigMap *ConfigMapVolumeSource, VsphereVolume *VsphereVirtualDiskVolumeSource, "
    "Quobyte *QuobyteVolumeSource, AzureDisk *AzureDiskVolumeSource, "
    "PhotonPersistentDisk *PhotonPersistentDiskVolumeSource, Projected *ProjectedVolumeSource, "
    "PortworxVolume *PortworxVolumeSource, ScaleIO *ScaleIOVolumeSource, StorageOS:storageos *StorageOSVolumeSource, "
    "CSI:csi *CSIVolumeSource, Ephemeral *EphemeralVolumeSource, Image *ImageVolumeSource",
    "HostPathVolumeSource": "Path string, Type *HostPathType",
    "EmptyDirVolumeSource": "Medium StorageMedium, SizeLimit *resource.Quantity",
    "GCEPersistentDiskVolumeSource": "PDName:pdName string, FSType:fsType string, Partition int32, ReadOnly bool",
    "AWSElasticBlockStoreVolumeSource": "VolumeID string, FSType:fsType string, Partition int32, ReadOnly bool",
    "GitRepoVolumeSource": "Repository string, Revision string, Directory string",
    "SecretVolumeSource": "SecretName string, Items []KeyToPath, DefaultMode *int32, Optional *bool",
    "KeyToPath": "Key string, Path string, Mode *int32",
    "NFSVolumeSource": "Server string, Path string, ReadOnly bool",
    "ISCSIVolumeSource": "TargetPortal string, IQN:iqn string, Lun int32, ISCSIInterface:iscsiInterface string, "
    "FSType:fsType string, ReadOnly bool, Portals []string, DiscoveryCHAPAuth:chapAuthDiscovery bool, "
    "SessionCHAPAuth:chapAuthSession bool, SecretRef *LocalObjectReference, InitiatorName *string",
    "GlusterfsVolumeSource": "EndpointsName:endpoints string, Path string, ReadOnly bool",
    "PersistentVolumeClaimVolumeSource": "ClaimName string, ReadOnly bool",
    "RBDVolumeSource": "CephMonitors:monitors []string, RBDImage:image string, FSType:fsType string, RBDPool:pool string, "
    "RadosUser:user string, Keyring string, SecretRef *LocalObjectReference, ReadOnly bool",
    "FlexVolumeSource": "Driver string, FSType:fsType string, SecretRef *LocalObjectReference, ReadOnly bool, "
    "Options map[string]string",
    "CinderVolumeSource": "VolumeID string, FSType:fsType string, ReadOnly bool, SecretRef *LocalObjectReference",
    "CephFSVolumeSource": "Monitors []string, Path string, User string, SecretFile string, "
    "SecretRef *LocalObjectReference, ReadOnly bool",
    "FlockerVolumeSource": "DatasetName string, DatasetUUID string",
    "DownwardAPIVolumeSource": "Items []DownwardAPIVolumeFile, DefaultMode *int32",
    "DownwardAPIVolumeFile": "Path string, FieldRef *ObjectFieldSelector, ResourceFieldRef *ResourceFieldSelector, Mode *int32",
    "FCVolumeSource": "TargetWWNs []string, Lun *int32, FSType:fsType string, ReadOnly bool, WWIDs:wwids []string",
    "AzureFileVolumeSource": "SecretName string, ShareName string, ReadOnly bool",
    "ConfigMapVolumeSource": "+LocalObjectReference LocalObjectReference, Items []KeyToPath, DefaultMode *int32, Optional *bool",
    "VsphereVirtualDiskVolumeSource": "VolumePath string, FSType:fsType string, StoragePolicyName string, StoragePolicyID string",
    "QuobyteVolumeSource": "Registry string, Volume string, ReadOnly bool, User string, Group string, Tenant string",
    "AzureDiskVolumeSource": "DiskName string, DataDiskURI:diskURI string, CachingMode *AzureDataDiskCachingMode, "
    "FSType:fsType *string, ReadOnly *bool, Kind *AzureDataDiskKind",
    "PhotonPersistentDiskVolumeSource": "PdID string, FSType:fsType string",
    "ProjectedVolumeSource": "Sources []VolumeProjection, DefaultMode *int32",
    "VolumeProjection": "Secret *SecretProjection, DownwardAPI *DownwardAPIProjection, ConfigMap *ConfigMapProjection, "
    "ServiceAccountToken *ServiceAccountTokenProjection, ClusterTrustBundle *ClusterTrustBundleProjection, "
    "PodCertificate *PodCertificateProjection",
    "SecretProjection": _OPTIONAL_ITEMS,
    "ConfigMapProjection": _OPTIONAL_ITEMS,
    "DownwardAPIProjection": "Items []DownwardAPIVolumeFile",
    "ServiceAccountTokenProjection": "Audience string, ExpirationSeconds *int64, Path string",
    "ClusterTrustBundleProjection": "Name *string, SignerName *string, LabelSelector *LabelSelector, Optional *bool, Path string",
    "PodCertificateProjection": "SignerName string, KeyType string, MaxExpirationSeconds *int32, "
    "CredentialBundlePath string, KeyPath string, CertificateChainPath string, UserAnnotations map[string]string",
    "PortworxVolumeSource": "VolumeID string, FSType:fsType string, ReadOnly bool",
    "ScaleIOVolumeSource": "Gateway string, System string, SecretRef *LocalObjectReference, SSLEnabled:sslEnabled bool, "
    "ProtectionDomain string, StoragePool string, StorageMode string, VolumeName string, FSType:fsType string, "
    "ReadOnly bool",
    "StorageOSVolumeSource": "VolumeName string, VolumeNamespace string, FSType:fsType string, ReadOnly bool, "
    "SecretRef *LocalObjectReference",
    "CSIVolumeSource": "Driver string, ReadOnly *bool, FSType:fsType *string, VolumeAttributes map[string]string, "
    "NodePublishSecretRef *LocalObjectReference",
    "EphemeralVolumeSource": "VolumeClaimTemplate *PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimTemplate": "ObjectMeta:metadata ObjectMeta, Spec PersistentVolumeClaimSpec",
    "PersistentVolumeClaimSpec": "AccessModes []PersistentVolumeAccessMode, Selector *LabelSelector, "
    "Resources VolumeResourceRequirements, VolumeName string, StorageClassName *string, "
    "VolumeMode *PersistentVolumeMode, DataSource *TypedLocalObjectReference, DataSourceRef *TypedObjectReference, "
    "VolumeAttributesClassName *string",
    "VolumeResourceRequirements": "Limits ResourceList, Requests ResourceList",
    "TypedLocalObjectReference": "APIGroup:apiGroup *string, Kind string, Name string",
    "TypedObjectReference": "APIGroup:apiGroup *string, Kind string, Name string, Namespace *string",
    "ImageVolumeSource": "Reference string, PullPolicy PullPolicy",
}

STRUCTS = {f"v1.{name}": fields for name, fields in {**_TEMPLATE, **_CONTAINER, **_PLACEMENT, **_VOLUME}.items()}
