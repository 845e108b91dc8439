"""The admission plugin: pods are refused, workloads warned about, namespaces told of the pods that they have.

Source: pod-security-admission `admission/admission.go`, `plugin/pkg/admission/security/podsecurity`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import FieldError, internal_error, invalid_object
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.pod_security.configuration import DEFAULT, Settings
from setpoint.registry.admission.pod_security.levels import PREFIX, PRIVILEGED, Level, Policy, policy_of
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

if TYPE_CHECKING:
    from setpoint.registry.admission.pod_security.findings import Finding

Json = Mapping[str, Any]
_MOST_PODS = 3000
_SECONDS = 1.0
#: subresources of pods whose writes change nothing that is judged
_IGNORED = frozenset(("exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"))
#: where the template of pods lies
_TEMPLATES = {
    "replicationcontrollers": ("spec", "template"),
    "podtemplates": ("template",),
    "replicasets.apps": ("spec", "template"),
    "deployments.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
}
_SECCOMP_POD, _SECCOMP_PREFIX = "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/"


class PodSecurity(BaseStep):
    """Judges by a namespace's labels, and by the settings where those say nothing."""

    def __init__(self, reader: Reader, settings: Settings = DEFAULT) -> None:
        self._reader = reader
        self._defaults = settings.defaults
        self._exempt = settings.exempt

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if operation not in {"CREATE", "UPDATE"}:
            return False
        if group_resource == "pods":
            return subresource not in _IGNORED
        return not subresource and (group_resource == "namespaces" or group_resource in _TEMPLATES)

    async def validate(self, request: AdmissionRequest) -> None:
        kind = request.resource.group_resource
        if kind == "namespaces":
            await self._namespace(request)
            return
        if why := self._exempted(request):
            _annotate(request, "exempt", why)
            return
        policy, errors = await self._policy(request)
        if kind == "pods":
            self._pod(request, policy, errors)
        else:
            self._workload(request, policy, errors)

    def _exempted(self, request: AdmissionRequest) -> str:
        if request.namespace in self._exempt.namespaces:
            return "namespace"
        return "user" if request.context.user.name in self._exempt.users else ""

    async def _policy(self, request: AdmissionRequest) -> tuple[Policy, list[FieldError]]:
        namespace = await self._reader.get("namespaces", "", request.namespace)
        if namespace is None:
            raise internal_error(f'failed to lookup namespace "{request.namespace}"')
        return policy_of(namespace["metadata"].get("labels") or {}, self._defaults)

    # --- pods and templates ---

    def _pod(self, request: AdmissionRequest, policy: Policy, errors: list[FieldError]) -> None:
        if policy.does_nothing and not errors:
            _annotate(request, "enforce-policy", str(policy.enforce))
            return
        pod = request.obj or {}
        if request.operation == "UPDATE" and not _is_significant(pod, request.old or {}):
            return
        self._evaluate(request, policy, errors, pod, enforce=True)

    def _workload(self, request: AdmissionRequest, policy: Policy, errors: list[FieldError]) -> None:
        if policy.warn.name == policy.audit.name == PRIVILEGED and not errors:
            return
        template: Any = request.obj
        for name in _TEMPLATES[request.resource.group_resource]:
            template = (template or {}).get(name)
        if template:
            self._evaluate(request, policy, errors, template, enforce=False)

    def _evaluate(self, request: AdmissionRequest, policy: Policy, errors: list[FieldError], pod: Json, *, enforce: bool) -> None:
        spec = pod.get("spec") or {}
        if spec.get("runtimeClassName") in self._exempt.runtime_classes:
            _annotate(request, "exempt", "runtimeClass")
            return
        if errors:
            _annotate(request, "error", f"Failed to parse policy: {_joined(errors)}")
        judged = _Judged(pod.get("metadata") or {}, spec)
        if audit := judged.by(policy.audit):
            _annotate(request, "audit-violations", f'would violate PodSecurity "{policy.audit}": {_told(audit)}')
        if enforce:
            _annotate(request, "enforce-policy", str(policy.enforce))
            if denied := judged.by(policy.enforce):
                raise refuse(request, f'violates PodSecurity "{policy.enforce}": {_told(denied)}')
        if warned := judged.by(policy.warn):
            request.context.warnings.append(f'would violate PodSecurity "{policy.warn}": {_told(warned)}')

    # --- namespaces ---

    async def _namespace(self, request: AdmissionRequest) -> None:
        """Labels must be right where they are new; who sets a stricter level hears of the pods that would not be let in."""
        policy, errors = policy_of(_labels(request.obj), self._defaults)
        if request.operation == "CREATE":
            if errors:
                raise invalid_object("", "Namespace", request.name, errors)
            if request.name in self._exempt.namespaces:
                self._tell_exempt(request, policy)
            return
        before, old_errors = policy_of(_labels(request.old), self._defaults)
        if errors and _joined(errors) != _joined(old_errors):
            raise invalid_object("", "Namespace", request.name, errors)
        new, old = policy.enforce, before.enforce
        if new == old or new.name == PRIVILEGED or (new.minor == old.minor and new.strictness <= old.strictness):
            return
        if request.name in self._exempt.namespaces:
            self._tell_exempt(request, policy)
        else:
            request.context.warnings += await self._warnings(request.name, new)

    @staticmethod
    def _tell_exempt(request: AdmissionRequest, policy: Policy) -> None:
        """Labels that mean nothing."""
        levels = ", ".join(
            f"{mode}={level}"
            for mode in ("enforce", "audit", "warn")
            if f"{PREFIX}{mode}" in _labels(request.obj) and (level := getattr(policy, mode)).name != PRIVILEGED
        )
        if levels:
            told = f'namespace "{request.name}" is exempt from Pod Security, and the policy ({levels}) will be ignored'
            request.context.warnings.append(told)

    async def _warnings(self, namespace: str, level: Level) -> list[str]:
        from setpoint.registry.admission.pod_security.checks import findings  # only where a level is set

        pods = await self._reader.list("pods", namespace)
        deadline, checked = time.monotonic() + _SECONDS, 0
        by_reason: dict[str, list[str]] = {}
        for pod in pods[:_MOST_PODS]:
            checked += 1
            spec = pod.get("spec") or {}
            if spec.get("runtimeClassName") not in self._exempt.runtime_classes and (
                found := findings(level, pod["metadata"], spec)
            ):
                reason = ", ".join(each.reason for each in found)
                by_reason.setdefault(reason, []).append(pod["metadata"]["name"])
            if time.monotonic() > deadline:
                break
        warnings = []
        if checked < len(pods):
            of = f"{checked} of {len(pods)} existing pods"
            warnings.append(f"new PodSecurity enforce level only checked against the first {of}")
        if by_reason:
            warnings.append(f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{level}"')
        return warnings + sorted(f"{_named(names)}: {reason}" for reason, names in by_reason.items())


class _Judged:
    """A pod's findings by level, each found once."""

    def __init__(self, metadata: Json, spec: Json) -> None:
        self._metadata = metadata
        self._spec = spec
        self._known: dict[Level, Sequence[Finding]] = {}

    def by(self, level: Level) -> Sequence[Finding]:
        if level.name == PRIVILEGED:
            return ()
        found = self._known.get(level)
        if found is None:
            from setpoint.registry.admission.pod_security.checks import findings  # only where a level is set

            found = self._known[level] = findings(level, self._metadata, self._spec)
        return found


def _told(found: Sequence[Finding]) -> str:
    return ", ".join(map(str, found))


def _named(names: list[str]) -> str:
    first, others = min(names), len(names) - 1
    return first if not others else f"{first} (and {others} other {'pod' if others == 1 else 'pods'})"


def _joined(errors: list[FieldError]) -> str:
    texts = [str(error) for error in errors]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _labels(obj: Json | None) -> Mapping[str, str]:
    found: Mapping[str, str] = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return found


def _annotate(request: AdmissionRequest, name: str, value: str) -> None:
    request.context.annotations[PREFIX + name] = value


def _is_significant(pod: Json, old: Json) -> bool:
    """Whether an update changes anything that is judged: images, containers, annotations of old."""
    new, before = pod.get("spec") or {}, old.get("spec") or {}
    notes, old_notes = (((each.get("metadata") or {}).get("annotations")) or {} for each in (pod, old))
    if notes.get(_SECCOMP_POD) != old_notes.get(_SECCOMP_POD):
        return True

    def differs(container: Json, earlier: Json) -> bool:
        key = _SECCOMP_PREFIX + container.get("name", "")
        return container.get("image") != earlier.get("image") or notes.get(key) != old_notes.get(key)

    for field in ("containers", "initContainers"):
        mine, theirs = new.get(field) or [], before.get(field) or []
        if len(mine) != len(theirs) or any(map(differs, mine, theirs)):
            return True
    known = {each["name"]: each for each in before.get("ephemeralContainers") or ()}
    return any(each["name"] not in known or differs(each, known[each["name"]]) for each in new.get("ephemeralContainers") or ())
