"""core/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class AWSElasticBlockStoreVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "volume_id": "volumeID"}
):
    fs_type: str = ""
    partition: int = 0
    read_only: bool = False
    volume_id: str = ""


class NodeSelectorRequirement(View, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(
    View, frozen=True, kw_only=True, rename={"match_expressions": "matchExpressions", "match_fields": "matchFields"}
):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class PreferredSchedulingTerm(View, frozen=True, kw_only=True):
    preference: NodeSelectorTerm = NodeSelectorTerm()
    weight: int = 0


class NodeSelector(View, frozen=True, kw_only=True, rename={"node_selector_terms": "nodeSelectorTerms"}):
    node_selector_terms: Nullable[tuple[NodeSelectorTerm, ...]] = ()

    def __post_init__(self) -> None:
        if self.node_selector_terms is None:
            force_setattr(self, "node_selector_terms", ())


class NodeAffinity(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "preferred_during_scheduling_ignored_during_execution": "preferredDuringSchedulingIgnoredDuringExecution",
        "required_during_scheduling_ignored_during_execution": "requiredDuringSchedulingIgnoredDuringExecution",
    },
):
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodAffinityTerm(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "label_selector": "labelSelector",
        "match_label_keys": "matchLabelKeys",
        "mismatch_label_keys": "mismatchLabelKeys",
        "namespace_selector": "namespaceSelector",
        "topology_key": "topologyKey",
    },
):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()
    namespace_selector: meta_v1.LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""


class WeightedPodAffinityTerm(View, frozen=True, kw_only=True, rename={"pod_affinity_term": "podAffinityTerm"}):
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()
    weight: int = 0


class PodAffinity(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "preferred_during_scheduling_ignored_during_execution": "preferredDuringSchedulingIgnoredDuringExecution",
        "required_during_scheduling_ignored_during_execution": "requiredDuringSchedulingIgnoredDuringExecution",
    },
):
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()


class PodAntiAffinity(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "preferred_during_scheduling_ignored_during_execution": "preferredDuringSchedulingIgnoredDuringExecution",
        "required_during_scheduling_ignored_during_execution": "requiredDuringSchedulingIgnoredDuringExecution",
    },
):
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()


class Affinity(
    View,
    frozen=True,
    kw_only=True,
    rename={"node_affinity": "nodeAffinity", "pod_affinity": "podAffinity", "pod_anti_affinity": "podAntiAffinity"},
):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class AppArmorProfile(View, frozen=True, kw_only=True, rename={"localhost_profile": "localhostProfile"}):
    localhost_profile: str | None = None
    type: str = ""


class AttachedVolume(View, frozen=True, kw_only=True, rename={"device_path": "devicePath"}):
    device_path: str = ""
    name: str = ""


class AzureDiskVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "caching_mode": "cachingMode",
        "disk_name": "diskName",
        "disk_uri": "diskURI",
        "fs_type": "fsType",
        "read_only": "readOnly",
    },
):
    caching_mode: str | None = None
    disk_name: str = ""
    disk_uri: str = ""
    fs_type: str | None = None
    kind: str | None = None
    read_only: bool | None = None


class AzureFilePersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "read_only": "readOnly",
        "secret_name": "secretName",
        "secret_namespace": "secretNamespace",
        "share_name": "shareName",
    },
):
    read_only: bool = False
    secret_name: str = ""
    secret_namespace: str | None = None
    share_name: str = ""


class AzureFileVolumeSource(
    View, frozen=True, kw_only=True, rename={"read_only": "readOnly", "secret_name": "secretName", "share_name": "shareName"}
):
    read_only: bool = False
    secret_name: str = ""
    share_name: str = ""


class ObjectReference(
    View,
    frozen=True,
    kw_only=True,
    rename={"api_version": "apiVersion", "field_path": "fieldPath", "resource_version": "resourceVersion"},
):
    api_version: str = ""
    field_path: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    uid: str = ""


class Binding(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    target: ObjectReference = ObjectReference()


class SecretReference(View, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""


class CSIPersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "controller_expand_secret_ref": "controllerExpandSecretRef",
        "controller_publish_secret_ref": "controllerPublishSecretRef",
        "fs_type": "fsType",
        "node_expand_secret_ref": "nodeExpandSecretRef",
        "node_publish_secret_ref": "nodePublishSecretRef",
        "node_stage_secret_ref": "nodeStageSecretRef",
        "read_only": "readOnly",
        "volume_attributes": "volumeAttributes",
        "volume_handle": "volumeHandle",
    },
):
    controller_expand_secret_ref: SecretReference | None = None
    controller_publish_secret_ref: SecretReference | None = None
    driver: str = ""
    fs_type: str = ""
    node_expand_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    read_only: bool = False
    volume_attributes: Mapping[str, str] = {}
    volume_handle: str = ""


class LocalObjectReference(View, frozen=True, kw_only=True):
    name: str = ""


class CSIVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "node_publish_secret_ref": "nodePublishSecretRef",
        "read_only": "readOnly",
        "volume_attributes": "volumeAttributes",
    },
):
    driver: str = ""
    fs_type: str | None = None
    node_publish_secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    volume_attributes: Mapping[str, str] = {}


class Capabilities(View, frozen=True, kw_only=True):
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class CephFSPersistentVolumeSource(
    View, frozen=True, kw_only=True, rename={"read_only": "readOnly", "secret_file": "secretFile", "secret_ref": "secretRef"}
):
    monitors: Nullable[tuple[str, ...]] = ()
    path: str = ""
    read_only: bool = False
    secret_file: str = ""
    secret_ref: SecretReference | None = None
    user: str = ""

    def __post_init__(self) -> None:
        if self.monitors is None:
            force_setattr(self, "monitors", ())


class CephFSVolumeSource(
    View, frozen=True, kw_only=True, rename={"read_only": "readOnly", "secret_file": "secretFile", "secret_ref": "secretRef"}
):
    monitors: Nullable[tuple[str, ...]] = ()
    path: str = ""
    read_only: bool = False
    secret_file: str = ""
    secret_ref: LocalObjectReference | None = None
    user: str = ""

    def __post_init__(self) -> None:
        if self.monitors is None:
            force_setattr(self, "monitors", ())


class CinderPersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef", "volume_id": "volumeID"},
):
    fs_type: str = ""
    read_only: bool = False
    secret_ref: SecretReference | None = None
    volume_id: str = ""


class CinderVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef", "volume_id": "volumeID"},
):
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
    volume_id: str = ""


class ClientIPConfig(View, frozen=True, kw_only=True, rename={"timeout_seconds": "timeoutSeconds"}):
    timeout_seconds: int | None = None


class ClusterTrustBundleProjection(
    View, frozen=True, kw_only=True, rename={"label_selector": "labelSelector", "signer_name": "signerName"}
):
    label_selector: meta_v1.LabelSelector | None = None
    name: str | None = None
    optional: bool | None = None
    path: str = ""
    signer_name: str | None = None


class ComponentCondition(View, frozen=True, kw_only=True):
    error: str = ""
    message: str = ""
    status: str = ""
    type: str = ""


class ComponentStatus(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    conditions: tuple[ComponentCondition, ...] = ()
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()


class ComponentStatusList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ComponentStatus, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ConfigMap(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "binary_data": "binaryData"}):
    api_version: str = ""
    binary_data: Mapping[str, str] = {}
    data: Mapping[str, str] = {}
    immutable: bool | None = None
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()


class ConfigMapEnvSource(View, frozen=True, kw_only=True):
    name: str = ""
    optional: bool | None = None


class ConfigMapKeySelector(View, frozen=True, kw_only=True):
    key: str = ""
    name: str = ""
    optional: bool | None = None


class ConfigMapList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ConfigMap, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ConfigMapNodeConfigSource(
    View, frozen=True, kw_only=True, rename={"kubelet_config_key": "kubeletConfigKey", "resource_version": "resourceVersion"}
):
    kubelet_config_key: str = ""
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    uid: str = ""


class KeyToPath(View, frozen=True, kw_only=True):
    key: str = ""
    mode: int | None = None
    path: str = ""


class ConfigMapProjection(View, frozen=True, kw_only=True):
    items: tuple[KeyToPath, ...] = ()
    name: str = ""
    optional: bool | None = None


class ConfigMapVolumeSource(View, frozen=True, kw_only=True, rename={"default_mode": "defaultMode"}):
    default_mode: int | None = None
    items: tuple[KeyToPath, ...] = ()
    name: str = ""
    optional: bool | None = None


class ObjectFieldSelector(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "field_path": "fieldPath"}):
    api_version: str = ""
    field_path: str = ""


class FileKeySelector(View, frozen=True, kw_only=True, rename={"volume_name": "volumeName"}):
    key: str = ""
    optional: bool | None = None
    path: str = ""
    volume_name: str = ""


class ResourceFieldSelector(View, frozen=True, kw_only=True, rename={"container_name": "containerName"}):
    container_name: str = ""
    divisor: str = "0"
    resource: str = ""


class SecretKeySelector(View, frozen=True, kw_only=True):
    key: str = ""
    name: str = ""
    optional: bool | None = None


class EnvVarSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "config_map_key_ref": "configMapKeyRef",
        "field_ref": "fieldRef",
        "file_key_ref": "fileKeyRef",
        "resource_field_ref": "resourceFieldRef",
        "secret_key_ref": "secretKeyRef",
    },
):
    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


class EnvVar(View, frozen=True, kw_only=True, rename={"value_from": "valueFrom"}):
    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class SecretEnvSource(View, frozen=True, kw_only=True):
    name: str = ""
    optional: bool | None = None


class EnvFromSource(View, frozen=True, kw_only=True, rename={"config_map_ref": "configMapRef", "secret_ref": "secretRef"}):
    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str = ""
    secret_ref: SecretEnvSource | None = None


class ExecAction(View, frozen=True, kw_only=True):
    command: tuple[str, ...] = ()


class HTTPHeader(View, frozen=True, kw_only=True):
    name: str = ""
    value: str = ""


class HTTPGetAction(View, frozen=True, kw_only=True, rename={"http_headers": "httpHeaders"}):
    host: str = ""
    http_headers: tuple[HTTPHeader, ...] = ()
    path: str = ""
    port: int | str = 0
    scheme: str = ""


class SleepAction(View, frozen=True, kw_only=True):
    seconds: int = 0


class TCPSocketAction(View, frozen=True, kw_only=True):
    host: str = ""
    port: int | str = 0


class LifecycleHandler(View, frozen=True, kw_only=True, rename={"http_get": "httpGet", "tcp_socket": "tcpSocket"}):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


class Lifecycle(
    View, frozen=True, kw_only=True, rename={"post_start": "postStart", "pre_stop": "preStop", "stop_signal": "stopSignal"}
):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class GRPCAction(View, frozen=True, kw_only=True):
    port: int = 0
    service: str | None = None


class Probe(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "failure_threshold": "failureThreshold",
        "http_get": "httpGet",
        "initial_delay_seconds": "initialDelaySeconds",
        "period_seconds": "periodSeconds",
        "success_threshold": "successThreshold",
        "tcp_socket": "tcpSocket",
        "termination_grace_period_seconds": "terminationGracePeriodSeconds",
        "timeout_seconds": "timeoutSeconds",
    },
):
    exec: ExecAction | None = None
    failure_threshold: int = 0
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int = 0
    period_seconds: int = 0
    success_threshold: int = 0
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int = 0


class ContainerPort(
    View, frozen=True, kw_only=True, rename={"container_port": "containerPort", "host_ip": "hostIP", "host_port": "hostPort"}
):
    container_port: int = 0
    host_ip: str = ""
    host_port: int = 0
    name: str = ""
    protocol: str = ""


class ContainerResizePolicy(
    View, frozen=True, kw_only=True, rename={"resource_name": "resourceName", "restart_policy": "restartPolicy"}
):
    resource_name: str = ""
    restart_policy: str = ""


class ResourceClaim(View, frozen=True, kw_only=True):
    name: str = ""
    request: str = ""


class ResourceRequirements(View, frozen=True, kw_only=True):
    claims: tuple[ResourceClaim, ...] = ()
    limits: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}


class ContainerRestartRuleOnExitCodes(View, frozen=True, kw_only=True):
    operator: str = ""
    values: tuple[int, ...] = ()


class ContainerRestartRule(View, frozen=True, kw_only=True, rename={"exit_codes": "exitCodes"}):
    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class SELinuxOptions(View, frozen=True, kw_only=True):
    level: str = ""
    role: str = ""
    type: str = ""
    user: str = ""


class SeccompProfile(View, frozen=True, kw_only=True, rename={"localhost_profile": "localhostProfile"}):
    localhost_profile: str | None = None
    type: str = ""


class WindowsSecurityContextOptions(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "gmsa_credential_spec": "gmsaCredentialSpec",
        "gmsa_credential_spec_name": "gmsaCredentialSpecName",
        "host_process": "hostProcess",
        "run_as_user_name": "runAsUserName",
    },
):
    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None


class SecurityContext(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "allow_privilege_escalation": "allowPrivilegeEscalation",
        "app_armor_profile": "appArmorProfile",
        "proc_mount": "procMount",
        "read_only_root_filesystem": "readOnlyRootFilesystem",
        "run_as_group": "runAsGroup",
        "run_as_non_root": "runAsNonRoot",
        "run_as_user": "runAsUser",
        "se_linux_options": "seLinuxOptions",
        "seccomp_profile": "seccompProfile",
        "windows_options": "windowsOptions",
    },
):
    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


class VolumeDevice(View, frozen=True, kw_only=True, rename={"device_path": "devicePath"}):
    device_path: str = ""
    name: str = ""


class VolumeMount(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "mount_path": "mountPath",
        "mount_propagation": "mountPropagation",
        "read_only": "readOnly",
        "recursive_read_only": "recursiveReadOnly",
        "sub_path": "subPath",
        "sub_path_expr": "subPathExpr",
    },
):
    mount_path: str = ""
    mount_propagation: str | None = None
    name: str = ""
    read_only: bool = False
    recursive_read_only: str | None = None
    sub_path: str = ""
    sub_path_expr: str = ""


class Container(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "env_from": "envFrom",
        "image_pull_policy": "imagePullPolicy",
        "liveness_probe": "livenessProbe",
        "readiness_probe": "readinessProbe",
        "resize_policy": "resizePolicy",
        "restart_policy": "restartPolicy",
        "restart_policy_rules": "restartPolicyRules",
        "security_context": "securityContext",
        "startup_probe": "startupProbe",
        "stdin_once": "stdinOnce",
        "termination_message_path": "terminationMessagePath",
        "termination_message_policy": "terminationMessagePolicy",
        "volume_devices": "volumeDevices",
        "volume_mounts": "volumeMounts",
        "working_dir": "workingDir",
    },
):
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    image: str = ""
    image_pull_policy: str = ""
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = ""
    ports: tuple[ContainerPort, ...] = ()
    readiness_probe: Probe | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool = False
    stdin_once: bool = False
    termination_message_path: str = ""
    termination_message_policy: str = ""
    tty: bool = False
    volume_devices: tuple[VolumeDevice, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    working_dir: str = ""


class ContainerExtendedResourceRequest(
    View,
    frozen=True,
    kw_only=True,
    rename={"container_name": "containerName", "request_name": "requestName", "resource_name": "resourceName"},
):
    container_name: str = ""
    request_name: str = ""
    resource_name: str = ""


class ContainerImage(View, frozen=True, kw_only=True, rename={"size_bytes": "sizeBytes"}):
    names: Nullable[tuple[str, ...]] = ()
    size_bytes: int = 0

    def __post_init__(self) -> None:
        if self.names is None:
            force_setattr(self, "names", ())


class ContainerStateRunning(View, frozen=True, kw_only=True, rename={"started_at": "startedAt"}):
    started_at: Nullable[str] = ""

    def __post_init__(self) -> None:
        if self.started_at is None:
            force_setattr(self, "started_at", "")


class ContainerStateTerminated(
    View,
    frozen=True,
    kw_only=True,
    rename={"container_id": "containerID", "exit_code": "exitCode", "finished_at": "finishedAt", "started_at": "startedAt"},
):
    container_id: str = ""
    exit_code: int = 0
    finished_at: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    signal: int = 0
    started_at: Nullable[str] = ""

    def __post_init__(self) -> None:
        if self.finished_at is None:
            force_setattr(self, "finished_at", "")
        if self.started_at is None:
            force_setattr(self, "started_at", "")


class ContainerStateWaiting(View, frozen=True, kw_only=True):
    message: str = ""
    reason: str = ""


class ContainerState(View, frozen=True, kw_only=True):
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


class ResourceHealth(View, frozen=True, kw_only=True, rename={"resource_id": "resourceID"}):
    health: str = ""
    message: str | None = None
    resource_id: str = ""


class ResourceStatus(View, frozen=True, kw_only=True):
    name: str = ""
    resources: tuple[ResourceHealth, ...] = ()


class LinuxContainerUser(View, frozen=True, kw_only=True, rename={"supplemental_groups": "supplementalGroups"}):
    gid: int = 0
    supplemental_groups: tuple[int, ...] = ()
    uid: int = 0


class ContainerUser(View, frozen=True, kw_only=True):
    linux: LinuxContainerUser | None = None


class ImageVolumeStatus(View, frozen=True, kw_only=True, rename={"image_ref": "imageRef"}):
    image_ref: str = ""


class VolumeStatus(View, frozen=True, kw_only=True):
    image: ImageVolumeStatus | None = None


class VolumeMountStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "mount_path": "mountPath",
        "read_only": "readOnly",
        "recursive_read_only": "recursiveReadOnly",
        "volume_status": "volumeStatus",
    },
):
    mount_path: str = ""
    name: str = ""
    read_only: bool = False
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class ContainerStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "allocated_resources": "allocatedResources",
        "allocated_resources_status": "allocatedResourcesStatus",
        "container_id": "containerID",
        "image_id": "imageID",
        "last_state": "lastState",
        "restart_count": "restartCount",
        "stop_signal": "stopSignal",
        "volume_mounts": "volumeMounts",
    },
):
    allocated_resources: Mapping[str, str] = {}
    allocated_resources_status: tuple[ResourceStatus, ...] = ()
    container_id: str = ""
    image: str = ""
    image_id: str = ""
    last_state: ContainerState = ContainerState()
    name: str = ""
    ready: bool = False
    resources: ResourceRequirements | None = None
    restart_count: int = 0
    started: bool | None = None
    state: ContainerState = ContainerState()
    stop_signal: str | None = None
    user: ContainerUser | None = None
    volume_mounts: tuple[VolumeMountStatus, ...] = ()


class DaemonEndpoint(View, frozen=True, kw_only=True, rename={"port": "Port"}):
    port: int = 0


class DownwardAPIVolumeFile(
    View, frozen=True, kw_only=True, rename={"field_ref": "fieldRef", "resource_field_ref": "resourceFieldRef"}
):
    field_ref: ObjectFieldSelector | None = None
    mode: int | None = None
    path: str = ""
    resource_field_ref: ResourceFieldSelector | None = None


class DownwardAPIProjection(View, frozen=True, kw_only=True):
    items: tuple[DownwardAPIVolumeFile, ...] = ()


class DownwardAPIVolumeSource(View, frozen=True, kw_only=True, rename={"default_mode": "defaultMode"}):
    default_mode: int | None = None
    items: tuple[DownwardAPIVolumeFile, ...] = ()


class EmptyDirVolumeSource(View, frozen=True, kw_only=True, rename={"size_limit": "sizeLimit"}):
    medium: str = ""
    size_limit: str | None = None


class EndpointAddress(View, frozen=True, kw_only=True, rename={"node_name": "nodeName", "target_ref": "targetRef"}):
    hostname: str = ""
    ip: str = ""
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(View, frozen=True, kw_only=True, rename={"app_protocol": "appProtocol"}):
    app_protocol: str | None = None
    name: str = ""
    port: int = 0
    protocol: str = ""


class EndpointSubset(View, frozen=True, kw_only=True, rename={"not_ready_addresses": "notReadyAddresses"}):
    addresses: tuple[EndpointAddress, ...] = ()
    not_ready_addresses: tuple[EndpointAddress, ...] = ()
    ports: tuple[EndpointPort, ...] = ()


class Endpoints(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    subsets: tuple[EndpointSubset, ...] = ()


class EndpointsList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Endpoints, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class EphemeralContainer(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "env_from": "envFrom",
        "image_pull_policy": "imagePullPolicy",
        "liveness_probe": "livenessProbe",
        "readiness_probe": "readinessProbe",
        "resize_policy": "resizePolicy",
        "restart_policy": "restartPolicy",
        "restart_policy_rules": "restartPolicyRules",
        "security_context": "securityContext",
        "startup_probe": "startupProbe",
        "stdin_once": "stdinOnce",
        "target_container_name": "targetContainerName",
        "termination_message_path": "terminationMessagePath",
        "termination_message_policy": "terminationMessagePolicy",
        "volume_devices": "volumeDevices",
        "volume_mounts": "volumeMounts",
        "working_dir": "workingDir",
    },
):
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    image: str = ""
    image_pull_policy: str = ""
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = ""
    ports: tuple[ContainerPort, ...] = ()
    readiness_probe: Probe | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool = False
    stdin_once: bool = False
    target_container_name: str = ""
    termination_message_path: str = ""
    termination_message_policy: str = ""
    tty: bool = False
    volume_devices: tuple[VolumeDevice, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    working_dir: str = ""


class TypedLocalObjectReference(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str | None = None
    kind: str = ""
    name: str = ""


class TypedObjectReference(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class VolumeResourceRequirements(View, frozen=True, kw_only=True):
    limits: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}


class PersistentVolumeClaimSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "access_modes": "accessModes",
        "data_source": "dataSource",
        "data_source_ref": "dataSourceRef",
        "storage_class_name": "storageClassName",
        "volume_attributes_class_name": "volumeAttributesClassName",
        "volume_mode": "volumeMode",
        "volume_name": "volumeName",
    },
):
    access_modes: tuple[str, ...] = ()
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    selector: meta_v1.LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""


class PersistentVolumeClaimTemplate(View, frozen=True, kw_only=True):
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(View, frozen=True, kw_only=True, rename={"volume_claim_template": "volumeClaimTemplate"}):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class EventSeries(View, frozen=True, kw_only=True, rename={"last_observed_time": "lastObservedTime"}):
    count: int = 0
    last_observed_time: Nullable[str] = ""

    def __post_init__(self) -> None:
        if self.last_observed_time is None:
            force_setattr(self, "last_observed_time", "")


class EventSource(View, frozen=True, kw_only=True):
    component: str = ""
    host: str = ""


class Event(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "event_time": "eventTime",
        "first_timestamp": "firstTimestamp",
        "involved_object": "involvedObject",
        "last_timestamp": "lastTimestamp",
        "reporting_component": "reportingComponent",
        "reporting_instance": "reportingInstance",
    },
):
    action: str = ""
    api_version: str = ""
    count: int = 0
    event_time: Nullable[str] = ""
    first_timestamp: Nullable[str] = ""
    involved_object: ObjectReference = ObjectReference()
    kind: str = ""
    last_timestamp: Nullable[str] = ""
    message: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    reason: str = ""
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""
    series: EventSeries | None = None
    source: EventSource = EventSource()
    type: str = ""

    def __post_init__(self) -> None:
        if self.event_time is None:
            force_setattr(self, "event_time", "")
        if self.first_timestamp is None:
            force_setattr(self, "first_timestamp", "")
        if self.last_timestamp is None:
            force_setattr(self, "last_timestamp", "")


class EventList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Event, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class FCVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "target_wwns": "targetWWNs"}
):
    fs_type: str = ""
    lun: int | None = None
    read_only: bool = False
    target_wwns: tuple[str, ...] = ()
    wwids: tuple[str, ...] = ()


class FlexPersistentVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef"}
):
    driver: str = ""
    fs_type: str = ""
    options: Mapping[str, str] = {}
    read_only: bool = False
    secret_ref: SecretReference | None = None


class FlexVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef"}
):
    driver: str = ""
    fs_type: str = ""
    options: Mapping[str, str] = {}
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class FlockerVolumeSource(View, frozen=True, kw_only=True, rename={"dataset_name": "datasetName", "dataset_uuid": "datasetUUID"}):
    dataset_name: str = ""
    dataset_uuid: str = ""


class GCEPersistentDiskVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "pd_name": "pdName", "read_only": "readOnly"}
):
    fs_type: str = ""
    partition: int = 0
    pd_name: str = ""
    read_only: bool = False


class GitRepoVolumeSource(View, frozen=True, kw_only=True):
    directory: str = ""
    repository: str = ""
    revision: str = ""


class GlusterfsPersistentVolumeSource(
    View, frozen=True, kw_only=True, rename={"endpoints_namespace": "endpointsNamespace", "read_only": "readOnly"}
):
    endpoints: str = ""
    endpoints_namespace: str | None = None
    path: str = ""
    read_only: bool = False


class GlusterfsVolumeSource(View, frozen=True, kw_only=True, rename={"read_only": "readOnly"}):
    endpoints: str = ""
    path: str = ""
    read_only: bool = False


class HostAlias(View, frozen=True, kw_only=True):
    hostnames: tuple[str, ...] = ()
    ip: str = ""


class HostIP(View, frozen=True, kw_only=True):
    ip: str = ""


class HostPathVolumeSource(View, frozen=True, kw_only=True):
    path: str = ""
    type: str | None = None


class ISCSIPersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "chap_auth_discovery": "chapAuthDiscovery",
        "chap_auth_session": "chapAuthSession",
        "fs_type": "fsType",
        "initiator_name": "initiatorName",
        "iscsi_interface": "iscsiInterface",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "target_portal": "targetPortal",
    },
):
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    fs_type: str = ""
    initiator_name: str | None = None
    iqn: str = ""
    iscsi_interface: str = ""
    lun: int = 0
    portals: tuple[str, ...] = ()
    read_only: bool = False
    secret_ref: SecretReference | None = None
    target_portal: str = ""


class ISCSIVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "chap_auth_discovery": "chapAuthDiscovery",
        "chap_auth_session": "chapAuthSession",
        "fs_type": "fsType",
        "initiator_name": "initiatorName",
        "iscsi_interface": "iscsiInterface",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "target_portal": "targetPortal",
    },
):
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    fs_type: str = ""
    initiator_name: str | None = None
    iqn: str = ""
    iscsi_interface: str = ""
    lun: int = 0
    portals: tuple[str, ...] = ()
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
    target_portal: str = ""


class ImageVolumeSource(View, frozen=True, kw_only=True, rename={"pull_policy": "pullPolicy"}):
    pull_policy: str = ""
    reference: str = ""


class LimitRangeItem(
    View,
    frozen=True,
    kw_only=True,
    rename={"default_request": "defaultRequest", "max_limit_request_ratio": "maxLimitRequestRatio"},
):
    default: Mapping[str, str] = {}
    default_request: Mapping[str, str] = {}
    max: Mapping[str, str] = {}
    max_limit_request_ratio: Mapping[str, str] = {}
    min: Mapping[str, str] = {}
    type: str = ""


class LimitRangeSpec(View, frozen=True, kw_only=True):
    limits: Nullable[tuple[LimitRangeItem, ...]] = ()

    def __post_init__(self) -> None:
        if self.limits is None:
            force_setattr(self, "limits", ())


class LimitRange(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()


class LimitRangeList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[LimitRange, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class PortStatus(View, frozen=True, kw_only=True):
    error: str | None = None
    port: int = 0
    protocol: str = ""


class LoadBalancerIngress(View, frozen=True, kw_only=True, rename={"ip_mode": "ipMode"}):
    hostname: str = ""
    ip: str = ""
    ip_mode: str | None = None
    ports: tuple[PortStatus, ...] = ()


class LoadBalancerStatus(View, frozen=True, kw_only=True):
    ingress: tuple[LoadBalancerIngress, ...] = ()


class LocalVolumeSource(View, frozen=True, kw_only=True, rename={"fs_type": "fsType"}):
    fs_type: str | None = None
    path: str = ""


class ModifyVolumeStatus(
    View, frozen=True, kw_only=True, rename={"target_volume_attributes_class_name": "targetVolumeAttributesClassName"}
):
    status: str = ""
    target_volume_attributes_class_name: str = ""


class NFSVolumeSource(View, frozen=True, kw_only=True, rename={"read_only": "readOnly"}):
    path: str = ""
    read_only: bool = False
    server: str = ""


class NamespaceSpec(View, frozen=True, kw_only=True):
    finalizers: tuple[str, ...] = ()


class NamespaceCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class NamespaceStatus(View, frozen=True, kw_only=True):
    conditions: tuple[NamespaceCondition, ...] = ()
    phase: str = ""


class Namespace(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class NamespaceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Namespace, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class NodeConfigSource(View, frozen=True, kw_only=True, rename={"config_map": "configMap"}):
    config_map: ConfigMapNodeConfigSource | None = None


class Taint(View, frozen=True, kw_only=True, rename={"time_added": "timeAdded"}):
    effect: str = ""
    key: str = ""
    time_added: str | None = None
    value: str = ""


class NodeSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "config_source": "configSource",
        "external_id": "externalID",
        "pod_cidr": "podCIDR",
        "pod_cidrs": "podCIDRs",
        "provider_id": "providerID",
    },
):
    config_source: NodeConfigSource | None = None
    external_id: str = ""
    pod_cidr: str = ""
    pod_cidrs: tuple[str, ...] = ()
    provider_id: str = ""
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeAddress(View, frozen=True, kw_only=True):
    address: str = ""
    type: str = ""


class NodeCondition(
    View,
    frozen=True,
    kw_only=True,
    rename={"last_heartbeat_time": "lastHeartbeatTime", "last_transition_time": "lastTransitionTime"},
):
    last_heartbeat_time: Nullable[str] = ""
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_heartbeat_time is None:
            force_setattr(self, "last_heartbeat_time", "")
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class NodeConfigStatus(View, frozen=True, kw_only=True, rename={"last_known_good": "lastKnownGood"}):
    active: NodeConfigSource | None = None
    assigned: NodeConfigSource | None = None
    error: str = ""
    last_known_good: NodeConfigSource | None = None


class NodeDaemonEndpoints(View, frozen=True, kw_only=True, rename={"kubelet_endpoint": "kubeletEndpoint"}):
    kubelet_endpoint: DaemonEndpoint = DaemonEndpoint()


class NodeFeatures(View, frozen=True, kw_only=True, rename={"supplemental_groups_policy": "supplementalGroupsPolicy"}):
    supplemental_groups_policy: bool | None = None


class NodeSwapStatus(View, frozen=True, kw_only=True):
    capacity: int | None = None


class NodeSystemInfo(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "boot_id": "bootID",
        "container_runtime_version": "containerRuntimeVersion",
        "kernel_version": "kernelVersion",
        "kube_proxy_version": "kubeProxyVersion",
        "kubelet_version": "kubeletVersion",
        "machine_id": "machineID",
        "operating_system": "operatingSystem",
        "os_image": "osImage",
        "system_uuid": "systemUUID",
    },
):
    architecture: str = ""
    boot_id: str = ""
    container_runtime_version: str = ""
    kernel_version: str = ""
    kube_proxy_version: str = ""
    kubelet_version: str = ""
    machine_id: str = ""
    operating_system: str = ""
    os_image: str = ""
    swap: NodeSwapStatus | None = None
    system_uuid: str = ""


class NodeRuntimeHandlerFeatures(
    View,
    frozen=True,
    kw_only=True,
    rename={"recursive_read_only_mounts": "recursiveReadOnlyMounts", "user_namespaces": "userNamespaces"},
):
    recursive_read_only_mounts: bool | None = None
    user_namespaces: bool | None = None


class NodeRuntimeHandler(View, frozen=True, kw_only=True):
    features: NodeRuntimeHandlerFeatures | None = None
    name: str = ""


class NodeStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "daemon_endpoints": "daemonEndpoints",
        "declared_features": "declaredFeatures",
        "node_info": "nodeInfo",
        "runtime_handlers": "runtimeHandlers",
        "volumes_attached": "volumesAttached",
        "volumes_in_use": "volumesInUse",
    },
):
    addresses: tuple[NodeAddress, ...] = ()
    allocatable: Mapping[str, str] = {}
    capacity: Mapping[str, str] = {}
    conditions: tuple[NodeCondition, ...] = ()
    config: NodeConfigStatus | None = None
    daemon_endpoints: NodeDaemonEndpoints = NodeDaemonEndpoints()
    declared_features: tuple[str, ...] = ()
    features: NodeFeatures | None = None
    images: tuple[ContainerImage, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()
    phase: str = ""
    runtime_handlers: tuple[NodeRuntimeHandler, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    volumes_in_use: tuple[str, ...] = ()


class Node(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NodeAllocatableResourceClaimStatus(View, frozen=True, kw_only=True, rename={"resource_claim_name": "resourceClaimName"}):
    containers: tuple[str, ...] = ()
    resource_claim_name: str = ""
    resources: Nullable[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        if self.resources is None:
            force_setattr(self, "resources", {})


class NodeList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Node, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class VolumeNodeAffinity(View, frozen=True, kw_only=True):
    required: NodeSelector | None = None


class PhotonPersistentDiskVolumeSource(View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "pd_id": "pdID"}):
    fs_type: str = ""
    pd_id: str = ""


class PortworxVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "volume_id": "volumeID"}
):
    fs_type: str = ""
    read_only: bool = False
    volume_id: str = ""


class QuobyteVolumeSource(View, frozen=True, kw_only=True, rename={"read_only": "readOnly"}):
    group: str = ""
    read_only: bool = False
    registry: str = ""
    tenant: str = ""
    user: str = ""
    volume: str = ""


class RBDPersistentVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef"}
):
    fs_type: str = ""
    image: str = ""
    keyring: str = ""
    monitors: Nullable[tuple[str, ...]] = ()
    pool: str = ""
    read_only: bool = False
    secret_ref: SecretReference | None = None
    user: str = ""

    def __post_init__(self) -> None:
        if self.monitors is None:
            force_setattr(self, "monitors", ())


class ScaleIOPersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "protection_domain": "protectionDomain",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "ssl_enabled": "sslEnabled",
        "storage_mode": "storageMode",
        "storage_pool": "storagePool",
        "volume_name": "volumeName",
    },
):
    fs_type: str = ""
    gateway: str = ""
    protection_domain: str = ""
    read_only: bool = False
    secret_ref: SecretReference | None = None
    ssl_enabled: bool = False
    storage_mode: str = ""
    storage_pool: str = ""
    system: str = ""
    volume_name: str = ""


class StorageOSPersistentVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "volume_name": "volumeName",
        "volume_namespace": "volumeNamespace",
    },
):
    fs_type: str = ""
    read_only: bool = False
    secret_ref: ObjectReference | None = None
    volume_name: str = ""
    volume_namespace: str = ""


class VsphereVirtualDiskVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "storage_policy_id": "storagePolicyID",
        "storage_policy_name": "storagePolicyName",
        "volume_path": "volumePath",
    },
):
    fs_type: str = ""
    storage_policy_id: str = ""
    storage_policy_name: str = ""
    volume_path: str = ""


class PersistentVolumeSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "access_modes": "accessModes",
        "aws_elastic_block_store": "awsElasticBlockStore",
        "azure_disk": "azureDisk",
        "azure_file": "azureFile",
        "claim_ref": "claimRef",
        "flex_volume": "flexVolume",
        "gce_persistent_disk": "gcePersistentDisk",
        "host_path": "hostPath",
        "mount_options": "mountOptions",
        "node_affinity": "nodeAffinity",
        "persistent_volume_reclaim_policy": "persistentVolumeReclaimPolicy",
        "photon_persistent_disk": "photonPersistentDisk",
        "portworx_volume": "portworxVolume",
        "scale_io": "scaleIO",
        "storage_class_name": "storageClassName",
        "volume_attributes_class_name": "volumeAttributesClassName",
        "volume_mode": "volumeMode",
        "vsphere_volume": "vsphereVolume",
    },
):
    access_modes: tuple[str, ...] = ()
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    capacity: Mapping[str, str] = {}
    cephfs: CephFSPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    mount_options: tuple[str, ...] = ()
    nfs: NFSVolumeSource | None = None
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str = ""
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = None
    storage_class_name: str = ""
    storageos: StorageOSPersistentVolumeSource | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PersistentVolumeStatus(View, frozen=True, kw_only=True, rename={"last_phase_transition_time": "lastPhaseTransitionTime"}):
    last_phase_transition_time: str | None = None
    message: str = ""
    phase: str = ""
    reason: str = ""


class PersistentVolume(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimCondition(
    View, frozen=True, kw_only=True, rename={"last_probe_time": "lastProbeTime", "last_transition_time": "lastTransitionTime"}
):
    last_probe_time: Nullable[str] = ""
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_probe_time is None:
            force_setattr(self, "last_probe_time", "")
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class PersistentVolumeClaimStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "access_modes": "accessModes",
        "allocated_resource_statuses": "allocatedResourceStatuses",
        "allocated_resources": "allocatedResources",
        "current_volume_attributes_class_name": "currentVolumeAttributesClassName",
        "modify_volume_status": "modifyVolumeStatus",
    },
):
    access_modes: tuple[str, ...] = ()
    allocated_resource_statuses: Mapping[str, str] = {}
    allocated_resources: Mapping[str, str] = {}
    capacity: Mapping[str, str] = {}
    conditions: tuple[PersistentVolumeClaimCondition, ...] = ()
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    phase: str = ""


class PersistentVolumeClaim(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class PersistentVolumeClaimList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PersistentVolumeClaim, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class PersistentVolumeClaimVolumeSource(
    View, frozen=True, kw_only=True, rename={"claim_name": "claimName", "read_only": "readOnly"}
):
    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PersistentVolume, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class PodDNSConfigOption(View, frozen=True, kw_only=True):
    name: str = ""
    value: str | None = None


class PodDNSConfig(View, frozen=True, kw_only=True):
    nameservers: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()
    searches: tuple[str, ...] = ()


class PodOS(View, frozen=True, kw_only=True):
    name: str = ""


class PodReadinessGate(View, frozen=True, kw_only=True, rename={"condition_type": "conditionType"}):
    condition_type: str = ""


class PodResourceClaim(
    View,
    frozen=True,
    kw_only=True,
    rename={"resource_claim_name": "resourceClaimName", "resource_claim_template_name": "resourceClaimTemplateName"},
):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGate(View, frozen=True, kw_only=True):
    name: str = ""


class PodSchedulingGroup(View, frozen=True, kw_only=True, rename={"pod_group_name": "podGroupName"}):
    pod_group_name: str | None = None


class Sysctl(View, frozen=True, kw_only=True):
    name: str = ""
    value: str = ""


class PodSecurityContext(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "app_armor_profile": "appArmorProfile",
        "fs_group": "fsGroup",
        "fs_group_change_policy": "fsGroupChangePolicy",
        "run_as_group": "runAsGroup",
        "run_as_non_root": "runAsNonRoot",
        "run_as_user": "runAsUser",
        "se_linux_change_policy": "seLinuxChangePolicy",
        "se_linux_options": "seLinuxOptions",
        "seccomp_profile": "seccompProfile",
        "supplemental_groups": "supplementalGroups",
        "supplemental_groups_policy": "supplementalGroupsPolicy",
        "windows_options": "windowsOptions",
    },
):
    app_armor_profile: AppArmorProfile | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: tuple[int, ...] = ()
    supplemental_groups_policy: str | None = None
    sysctls: tuple[Sysctl, ...] = ()
    windows_options: WindowsSecurityContextOptions | None = None


class Toleration(View, frozen=True, kw_only=True, rename={"toleration_seconds": "tolerationSeconds"}):
    effect: str = ""
    key: str = ""
    operator: str = ""
    toleration_seconds: int | None = None
    value: str = ""


class TopologySpreadConstraint(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "label_selector": "labelSelector",
        "match_label_keys": "matchLabelKeys",
        "max_skew": "maxSkew",
        "min_domains": "minDomains",
        "node_affinity_policy": "nodeAffinityPolicy",
        "node_taints_policy": "nodeTaintsPolicy",
        "topology_key": "topologyKey",
        "when_unsatisfiable": "whenUnsatisfiable",
    },
):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    max_skew: int = 0
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str = ""
    when_unsatisfiable: str = ""


class PodCertificateProjection(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "certificate_chain_path": "certificateChainPath",
        "credential_bundle_path": "credentialBundlePath",
        "key_path": "keyPath",
        "key_type": "keyType",
        "max_expiration_seconds": "maxExpirationSeconds",
        "signer_name": "signerName",
        "user_annotations": "userAnnotations",
    },
):
    certificate_chain_path: str = ""
    credential_bundle_path: str = ""
    key_path: str = ""
    key_type: str = ""
    max_expiration_seconds: int | None = None
    signer_name: str = ""
    user_annotations: Mapping[str, str] = {}


class SecretProjection(View, frozen=True, kw_only=True):
    items: tuple[KeyToPath, ...] = ()
    name: str = ""
    optional: bool | None = None


class ServiceAccountTokenProjection(View, frozen=True, kw_only=True, rename={"expiration_seconds": "expirationSeconds"}):
    audience: str = ""
    expiration_seconds: int | None = None
    path: str = ""


class VolumeProjection(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "cluster_trust_bundle": "clusterTrustBundle",
        "config_map": "configMap",
        "downward_api": "downwardAPI",
        "pod_certificate": "podCertificate",
        "service_account_token": "serviceAccountToken",
    },
):
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = None
    pod_certificate: PodCertificateProjection | None = None
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class ProjectedVolumeSource(View, frozen=True, kw_only=True, rename={"default_mode": "defaultMode"}):
    default_mode: int | None = None
    sources: Nullable[tuple[VolumeProjection, ...]] = ()

    def __post_init__(self) -> None:
        if self.sources is None:
            force_setattr(self, "sources", ())


class RBDVolumeSource(
    View, frozen=True, kw_only=True, rename={"fs_type": "fsType", "read_only": "readOnly", "secret_ref": "secretRef"}
):
    fs_type: str = ""
    image: str = ""
    keyring: str = ""
    monitors: Nullable[tuple[str, ...]] = ()
    pool: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
    user: str = ""

    def __post_init__(self) -> None:
        if self.monitors is None:
            force_setattr(self, "monitors", ())


class ScaleIOVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "protection_domain": "protectionDomain",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "ssl_enabled": "sslEnabled",
        "storage_mode": "storageMode",
        "storage_pool": "storagePool",
        "volume_name": "volumeName",
    },
):
    fs_type: str = ""
    gateway: str = ""
    protection_domain: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
    ssl_enabled: bool = False
    storage_mode: str = ""
    storage_pool: str = ""
    system: str = ""
    volume_name: str = ""


class SecretVolumeSource(View, frozen=True, kw_only=True, rename={"default_mode": "defaultMode", "secret_name": "secretName"}):
    default_mode: int | None = None
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None
    secret_name: str = ""


class StorageOSVolumeSource(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "fs_type": "fsType",
        "read_only": "readOnly",
        "secret_ref": "secretRef",
        "volume_name": "volumeName",
        "volume_namespace": "volumeNamespace",
    },
):
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
    volume_name: str = ""
    volume_namespace: str = ""


class Volume(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "aws_elastic_block_store": "awsElasticBlockStore",
        "azure_disk": "azureDisk",
        "azure_file": "azureFile",
        "config_map": "configMap",
        "downward_api": "downwardAPI",
        "empty_dir": "emptyDir",
        "flex_volume": "flexVolume",
        "gce_persistent_disk": "gcePersistentDisk",
        "git_repo": "gitRepo",
        "host_path": "hostPath",
        "persistent_volume_claim": "persistentVolumeClaim",
        "photon_persistent_disk": "photonPersistentDisk",
        "portworx_volume": "portworxVolume",
        "scale_io": "scaleIO",
        "vsphere_volume": "vsphereVolume",
    },
):
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    name: str = ""
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PodSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "active_deadline_seconds": "activeDeadlineSeconds",
        "automount_service_account_token": "automountServiceAccountToken",
        "dns_config": "dnsConfig",
        "dns_policy": "dnsPolicy",
        "enable_service_links": "enableServiceLinks",
        "ephemeral_containers": "ephemeralContainers",
        "host_aliases": "hostAliases",
        "host_ipc": "hostIPC",
        "host_network": "hostNetwork",
        "host_pid": "hostPID",
        "host_users": "hostUsers",
        "hostname_override": "hostnameOverride",
        "image_pull_secrets": "imagePullSecrets",
        "init_containers": "initContainers",
        "node_name": "nodeName",
        "node_selector": "nodeSelector",
        "preemption_policy": "preemptionPolicy",
        "priority_class_name": "priorityClassName",
        "readiness_gates": "readinessGates",
        "resource_claims": "resourceClaims",
        "restart_policy": "restartPolicy",
        "runtime_class_name": "runtimeClassName",
        "scheduler_name": "schedulerName",
        "scheduling_gates": "schedulingGates",
        "scheduling_group": "schedulingGroup",
        "security_context": "securityContext",
        "service_account": "serviceAccount",
        "service_account_name": "serviceAccountName",
        "set_hostname_as_fqdn": "setHostnameAsFQDN",
        "share_process_namespace": "shareProcessNamespace",
        "termination_grace_period_seconds": "terminationGracePeriodSeconds",
        "topology_spread_constraints": "topologySpreadConstraints",
    },
):
    active_deadline_seconds: int | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: Nullable[tuple[Container, ...]] = ()
    dns_config: PodDNSConfig | None = None
    dns_policy: str = ""
    enable_service_links: bool | None = None
    ephemeral_containers: tuple[EphemeralContainer, ...] = ()
    host_aliases: tuple[HostAlias, ...] = ()
    host_ipc: bool = False
    host_network: bool = False
    host_pid: bool = False
    host_users: bool | None = None
    hostname: str = ""
    hostname_override: str | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    node_selector: Mapping[str, str] = {}
    os: PodOS | None = None
    overhead: Mapping[str, str] = {}
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str = ""
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str = ""
    runtime_class_name: str | None = None
    scheduler_name: str = ""
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None
    service_account: str = ""
    service_account_name: str = ""
    set_hostname_as_fqdn: bool | None = None
    share_process_namespace: bool | None = None
    subdomain: str = ""
    termination_grace_period_seconds: int | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()

    def __post_init__(self) -> None:
        if self.containers is None:
            force_setattr(self, "containers", ())


class PodCondition(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "last_probe_time": "lastProbeTime",
        "last_transition_time": "lastTransitionTime",
        "observed_generation": "observedGeneration",
    },
):
    last_probe_time: Nullable[str] = ""
    last_transition_time: Nullable[str] = ""
    message: str = ""
    observed_generation: int = 0
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_probe_time is None:
            force_setattr(self, "last_probe_time", "")
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class PodExtendedResourceClaimStatus(
    View, frozen=True, kw_only=True, rename={"request_mappings": "requestMappings", "resource_claim_name": "resourceClaimName"}
):
    request_mappings: Nullable[tuple[ContainerExtendedResourceRequest, ...]] = ()
    resource_claim_name: str = ""

    def __post_init__(self) -> None:
        if self.request_mappings is None:
            force_setattr(self, "request_mappings", ())


class PodIP(View, frozen=True, kw_only=True):
    ip: str = ""


class PodResourceClaimStatus(View, frozen=True, kw_only=True, rename={"resource_claim_name": "resourceClaimName"}):
    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "allocated_resources": "allocatedResources",
        "container_statuses": "containerStatuses",
        "ephemeral_container_statuses": "ephemeralContainerStatuses",
        "extended_resource_claim_status": "extendedResourceClaimStatus",
        "host_ip": "hostIP",
        "host_ips": "hostIPs",
        "init_container_statuses": "initContainerStatuses",
        "node_allocatable_resource_claim_statuses": "nodeAllocatableResourceClaimStatuses",
        "nominated_node_name": "nominatedNodeName",
        "observed_generation": "observedGeneration",
        "pod_ip": "podIP",
        "pod_ips": "podIPs",
        "qos_class": "qosClass",
        "resource_claim_statuses": "resourceClaimStatuses",
        "start_time": "startTime",
    },
):
    allocated_resources: Mapping[str, str] = {}
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    host_ip: str = ""
    host_ips: tuple[HostIP, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    message: str = ""
    node_allocatable_resource_claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    nominated_node_name: str = ""
    observed_generation: int = 0
    phase: str = ""
    pod_ip: str = ""
    pod_ips: tuple[PodIP, ...] = ()
    qos_class: str = ""
    reason: str = ""
    resize: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    resources: ResourceRequirements | None = None
    start_time: str | None = None


class Pod(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Pod, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class PodTemplateSpec(View, frozen=True, kw_only=True):
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PodSpec = PodSpec()


class PodTemplate(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    template: PodTemplateSpec = PodTemplateSpec()


class PodTemplateList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PodTemplate, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ReplicationControllerSpec(View, frozen=True, kw_only=True, rename={"min_ready_seconds": "minReadySeconds"}):
    min_ready_seconds: int = 0
    replicas: int | None = None
    selector: Mapping[str, str] = {}
    template: PodTemplateSpec | None = None


class ReplicationControllerCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class ReplicationControllerStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "available_replicas": "availableReplicas",
        "fully_labeled_replicas": "fullyLabeledReplicas",
        "observed_generation": "observedGeneration",
        "ready_replicas": "readyReplicas",
    },
):
    available_replicas: int = 0
    conditions: tuple[ReplicationControllerCondition, ...] = ()
    fully_labeled_replicas: int = 0
    observed_generation: int = 0
    ready_replicas: int = 0
    replicas: int = 0


class ReplicationController(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicationControllerStatus = ReplicationControllerStatus()


class ReplicationControllerList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ReplicationController, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ScopedResourceSelectorRequirement(View, frozen=True, kw_only=True, rename={"scope_name": "scopeName"}):
    operator: str = ""
    scope_name: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(View, frozen=True, kw_only=True, rename={"match_expressions": "matchExpressions"}):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(View, frozen=True, kw_only=True, rename={"scope_selector": "scopeSelector"}):
    hard: Mapping[str, str] = {}
    scope_selector: ScopeSelector | None = None
    scopes: tuple[str, ...] = ()


class ResourceQuotaStatus(View, frozen=True, kw_only=True):
    hard: Mapping[str, str] = {}
    used: Mapping[str, str] = {}


class ResourceQuota(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class ResourceQuotaList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ResourceQuota, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class Secret(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "string_data": "stringData"}):
    api_version: str = ""
    data: Mapping[str, str] = {}
    immutable: bool | None = None
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    string_data: Mapping[str, str] = {}
    type: str = ""


class SecretList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Secret, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ServicePort(
    View, frozen=True, kw_only=True, rename={"app_protocol": "appProtocol", "node_port": "nodePort", "target_port": "targetPort"}
):
    app_protocol: str | None = None
    name: str = ""
    node_port: int = 0
    port: int = 0
    protocol: str = ""
    target_port: int | str = 0


class SessionAffinityConfig(View, frozen=True, kw_only=True, rename={"client_ip": "clientIP"}):
    client_ip: ClientIPConfig | None = None


class ServiceSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "allocate_load_balancer_node_ports": "allocateLoadBalancerNodePorts",
        "cluster_ip": "clusterIP",
        "cluster_ips": "clusterIPs",
        "external_ips": "externalIPs",
        "external_name": "externalName",
        "external_traffic_policy": "externalTrafficPolicy",
        "health_check_node_port": "healthCheckNodePort",
        "internal_traffic_policy": "internalTrafficPolicy",
        "ip_families": "ipFamilies",
        "ip_family_policy": "ipFamilyPolicy",
        "load_balancer_class": "loadBalancerClass",
        "load_balancer_ip": "loadBalancerIP",
        "load_balancer_source_ranges": "loadBalancerSourceRanges",
        "publish_not_ready_addresses": "publishNotReadyAddresses",
        "session_affinity": "sessionAffinity",
        "session_affinity_config": "sessionAffinityConfig",
        "traffic_distribution": "trafficDistribution",
    },
):
    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str = ""
    cluster_ips: tuple[str, ...] = ()
    external_ips: tuple[str, ...] = ()
    external_name: str = ""
    external_traffic_policy: str = ""
    health_check_node_port: int = 0
    internal_traffic_policy: str | None = None
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str | None = None
    load_balancer_class: str | None = None
    load_balancer_ip: str = ""
    load_balancer_source_ranges: tuple[str, ...] = ()
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready_addresses: bool = False
    selector: Mapping[str, str] = {}
    session_affinity: str = ""
    session_affinity_config: SessionAffinityConfig | None = None
    traffic_distribution: str | None = None
    type: str = ""


class ServiceStatus(View, frozen=True, kw_only=True, rename={"load_balancer": "loadBalancer"}):
    conditions: tuple[meta_v1.Condition, ...] = ()
    load_balancer: LoadBalancerStatus = LoadBalancerStatus()


class Service(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class ServiceAccount(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "automount_service_account_token": "automountServiceAccountToken",
        "image_pull_secrets": "imagePullSecrets",
    },
):
    api_version: str = ""
    automount_service_account_token: bool | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    secrets: tuple[ObjectReference, ...] = ()


class ServiceAccountList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ServiceAccount, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ServiceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Service, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class TopologySelectorLabelRequirement(View, frozen=True, kw_only=True):
    key: str = ""
    values: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.values is None:
            force_setattr(self, "values", ())


class TopologySelectorTerm(View, frozen=True, kw_only=True, rename={"match_label_expressions": "matchLabelExpressions"}):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


BINDINGS: Resource[Binding] = Resource("", "v1", "bindings", "Binding", True, Binding)
COMPONENTSTATUSES: Resource[ComponentStatus] = Resource("", "v1", "componentstatuses", "ComponentStatus", False, ComponentStatus)
CONFIGMAPS: Resource[ConfigMap] = Resource("", "v1", "configmaps", "ConfigMap", True, ConfigMap)
ENDPOINTS: Resource[Endpoints] = Resource("", "v1", "endpoints", "Endpoints", True, Endpoints)
EVENTS: Resource[Event] = Resource("", "v1", "events", "Event", True, Event)
LIMITRANGES: Resource[LimitRange] = Resource("", "v1", "limitranges", "LimitRange", True, LimitRange)
NAMESPACES: Resource[Namespace] = Resource("", "v1", "namespaces", "Namespace", False, Namespace)
NODES: Resource[Node] = Resource("", "v1", "nodes", "Node", False, Node)
PERSISTENTVOLUMECLAIMS: Resource[PersistentVolumeClaim] = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, PersistentVolumeClaim
)
PERSISTENTVOLUMES: Resource[PersistentVolume] = Resource(
    "", "v1", "persistentvolumes", "PersistentVolume", False, PersistentVolume
)
PODS: Resource[Pod] = Resource("", "v1", "pods", "Pod", True, Pod)
PODTEMPLATES: Resource[PodTemplate] = Resource("", "v1", "podtemplates", "PodTemplate", True, PodTemplate)
REPLICATIONCONTROLLERS: Resource[ReplicationController] = Resource(
    "", "v1", "replicationcontrollers", "ReplicationController", True, ReplicationController
)
RESOURCEQUOTAS: Resource[ResourceQuota] = Resource("", "v1", "resourcequotas", "ResourceQuota", True, ResourceQuota)
SECRETS: Resource[Secret] = Resource("", "v1", "secrets", "Secret", True, Secret)
SERVICEACCOUNTS: Resource[ServiceAccount] = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, ServiceAccount)
SERVICES: Resource[Service] = Resource("", "v1", "services", "Service", True, Service)
