"""What a Job's policies say about a failed pod, and about the indexes that succeeded. Pure.

As `pkg/controller/job/pod_failure_policy.go` and `success_policy.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from setpoint.api.types import batch_v1, core_v1
from setpoint.controllers.job import indexes, pods
from setpoint.controllers.job.indexes import Indexes


class Verdict(Struct, frozen=True):
    """`message` is why the Job fails with this pod, "" if it does not; `action` is that of the rule that matched."""

    counts: bool = True
    action: str = ""
    message: str = ""


def judge(job: batch_v1.Job, pod: core_v1.Pod) -> Verdict:
    """The first rule that matches a failed pod decides; without one the failure counts."""
    policy = job.spec.pod_failure_policy
    for number, rule in enumerate((policy.rules or ()) if policy is not None else ()):
        cause = _match(rule, pod)
        if cause:
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            message = cause.format(pod=name, rule=f"matching {rule.action} rule at index {number}")
            return Verdict(rule.action != "Ignore", rule.action, message if rule.action == "FailJob" else "")
    return Verdict()


def _match(rule: batch_v1.PodFailurePolicyRule, pod: core_v1.Pod) -> str:
    """What matched, as a message with places for pod and rule; "" if the rule does not match."""
    if rule.on_exit_codes is not None:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            code = status.state.terminated.exit_code if status.state.terminated is not None else 0
            if code and _exit_code_matches(rule.on_exit_codes, status.name, code):
                return f"Container {status.name} for pod {{pod}} failed with exit code {code} {{rule}}"
        return ""
    for pattern in rule.on_pod_conditions:
        for condition in pod.status.conditions:
            if condition.type == pattern.type and condition.status == (pattern.status or "True"):
                return f"Pod {{pod}} has condition {condition.type} {{rule}}"
    return ""


def _exit_code_matches(required: batch_v1.PodFailurePolicyOnExitCodesRequirement, name: str, code: int) -> bool:
    if required.container_name is not None and required.container_name != name:
        return False
    return (code in (required.values or ())) == (required.operator == "In")


def failing(job: batch_v1.Job, failed: Iterable[core_v1.Pod]) -> str:
    """Why the Job fails at once, "" if no pod makes it."""
    if job.spec.pod_failure_policy is None:
        return ""
    return next((message for pod in failed if (message := judge(job, pod).message)), "")


def is_index_failed(job: batch_v1.Job, pod: core_v1.Pod) -> bool:
    """Whether with this pod its index has failed for good."""
    if not pods.is_failed(pod, job):
        return False
    verdict = judge(job, pod)
    if verdict.action == "FailIndex":
        return True
    return verdict.counts and pods.failures(pod) >= (job.spec.backoff_limit_per_index or 0)


def success(job: batch_v1.Job, succeeded: Indexes) -> str:
    """Why the Job has succeeded already, "" if it has not."""
    if job.spec.success_policy is None or not succeeded.ranges:
        return ""
    for number, rule in enumerate(job.spec.success_policy.rules or ()):
        have, want = succeeded.total, rule.succeeded_count
        if rule.succeeded_indexes is not None:
            required = indexes.parse(rule.succeeded_indexes, job.spec.completions or 0)
            have = required.common(succeeded)
            want = required.total if want is None else want
        if want is not None and have >= want:
            return f"Matched rules at index {number}"
    return ""
