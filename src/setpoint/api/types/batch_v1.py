"""batch/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class PodFailurePolicyOnExitCodesRequirement(View, frozen=True, kw_only=True, rename={"container_name": "containerName"}):
    container_name: str | None = None
    operator: str = ""
    values: Nullable[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        if self.values is None:
            force_setattr(self, "values", ())


class PodFailurePolicyOnPodConditionsPattern(View, frozen=True, kw_only=True):
    status: str = ""
    type: str = ""


class PodFailurePolicyRule(
    View, frozen=True, kw_only=True, rename={"on_exit_codes": "onExitCodes", "on_pod_conditions": "onPodConditions"}
):
    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(View, frozen=True, kw_only=True):
    rules: Nullable[tuple[PodFailurePolicyRule, ...]] = ()

    def __post_init__(self) -> None:
        if self.rules is None:
            force_setattr(self, "rules", ())


class SuccessPolicyRule(
    View, frozen=True, kw_only=True, rename={"succeeded_count": "succeededCount", "succeeded_indexes": "succeededIndexes"}
):
    succeeded_count: int | None = None
    succeeded_indexes: str | None = None


class SuccessPolicy(View, frozen=True, kw_only=True):
    rules: Nullable[tuple[SuccessPolicyRule, ...]] = ()

    def __post_init__(self) -> None:
        if self.rules is None:
            force_setattr(self, "rules", ())


class JobSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "active_deadline_seconds": "activeDeadlineSeconds",
        "backoff_limit": "backoffLimit",
        "backoff_limit_per_index": "backoffLimitPerIndex",
        "completion_mode": "completionMode",
        "managed_by": "managedBy",
        "manual_selector": "manualSelector",
        "max_failed_indexes": "maxFailedIndexes",
        "pod_failure_policy": "podFailurePolicy",
        "pod_replacement_policy": "podReplacementPolicy",
        "success_policy": "successPolicy",
        "ttl_seconds_after_finished": "ttlSecondsAfterFinished",
    },
):
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    completion_mode: str | None = None
    completions: int | None = None
    managed_by: str | None = None
    manual_selector: bool | None = None
    max_failed_indexes: int | None = None
    parallelism: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str | None = None
    selector: meta_v1.LabelSelector | None = None
    success_policy: SuccessPolicy | None = None
    suspend: bool | None = None
    template: core_v1.PodTemplateSpec = core_v1.PodTemplateSpec()
    ttl_seconds_after_finished: int | None = None


class JobTemplateSpec(View, frozen=True, kw_only=True):
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "concurrency_policy": "concurrencyPolicy",
        "failed_jobs_history_limit": "failedJobsHistoryLimit",
        "job_template": "jobTemplate",
        "starting_deadline_seconds": "startingDeadlineSeconds",
        "successful_jobs_history_limit": "successfulJobsHistoryLimit",
        "time_zone": "timeZone",
    },
):
    concurrency_policy: str = ""
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()
    schedule: str = ""
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    suspend: bool | None = None
    time_zone: str | None = None


class CronJobStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={"last_schedule_time": "lastScheduleTime", "last_successful_time": "lastSuccessfulTime"},
):
    active: tuple[core_v1.ObjectReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


class CronJobList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CronJob, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class JobCondition(
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


class UncountedTerminatedPods(View, frozen=True, kw_only=True):
    failed: tuple[str, ...] = ()
    succeeded: tuple[str, ...] = ()


class JobStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "completed_indexes": "completedIndexes",
        "completion_time": "completionTime",
        "failed_indexes": "failedIndexes",
        "start_time": "startTime",
        "uncounted_terminated_pods": "uncountedTerminatedPods",
    },
):
    active: int = 0
    completed_indexes: str = ""
    completion_time: str | None = None
    conditions: tuple[JobCondition, ...] = ()
    failed: int = 0
    failed_indexes: str | None = None
    ready: int | None = None
    start_time: str | None = None
    succeeded: int = 0
    terminating: int | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


class Job(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Job, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


CRONJOBS: Resource[CronJob] = Resource("batch", "v1", "cronjobs", "CronJob", True, CronJob)
JOBS: Resource[Job] = Resource("batch", "v1", "jobs", "Job", True, Job)
