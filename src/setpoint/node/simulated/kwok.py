"""Stages as KWOK declares them (kwok.x-k8s.io/v1alpha1), for pods.

A Stage says which pods it is for, how long they wait, and what then happens: a status from a template, finalizers, an event, the
end. Of the stages that match a pod one is chosen by weight; choice and delay follow from the seed and the pod's name. With
a jitter above the delay the delay lies between both; with one below, it is the jitter (it is the latest moment, not an addition).
What has no place here is refused when the file is read: Stages of other kinds than Pod, CEL conditions, patches of anything but
the status, templates beyond `go_template`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from setpoint.api.types import core_v1
from setpoint.kit.clock import Clock, parse_rfc3339, rfc3339
from setpoint.node.simulated import expressions
from setpoint.node.simulated.chance import Chance
from setpoint.node.simulated.durations import StageError, parsed
from setpoint.node.simulated.go_template import Template, TemplateError, to_text
from setpoint.node.simulated.stages import IN_SERVICE, Place, Step

API_VERSION = "kwok.x-k8s.io/v1alpha1"
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_SPEC = {"resourceRef", "selector", "weight", "weightFrom", "delay", "next", "steps", "immediateNextStage"}
_NEXT = {"statusTemplate", "statusSubresource", "finalizers", "delete", "event"}
Requirement = Callable[[Any], bool]


class Measure(Struct, frozen=True):
    """A number, or where in the object it is found."""

    plain: float | None = None
    found: expressions.Expression | None = None


class Event(Struct, frozen=True):
    """What is told of the pod."""

    kind: str
    reason: str
    message: Template


class Stage(Struct, frozen=True):
    """One Stage, read."""

    name: str
    matches: Sequence[Requirement]
    weight: Measure
    duration: Measure
    jitter: Measure
    status: Template | None = None
    delete: bool = False
    finalizers: Mapping[str, Any] = field(default_factory=dict)
    event: Event | None = None


class Stages:
    """The life of pods by Stages: `next` is the step of the stage that was chosen."""

    def __init__(self, stages: Sequence[Stage], chance: Chance, clock: Clock, scope: Scope) -> None:
        self._stages = stages
        self._chance = chance
        self._clock = clock
        self._scope = scope

    def next(self, pod: core_v1.Pod, *, lost: bool) -> Step | None:
        """`lost` makes no difference: Stages know nothing of containers."""
        del lost
        obj: dict[str, Any] = msgspec.to_builtins(pod)
        matching = [stage for stage in self._stages if all(matches(obj) for matches in stage.matches)]
        if not matching:
            return None
        # The name alone would choose the same way each time that a stage comes round again.
        life = str(sum(status.restart_count for status in pod.status.container_statuses))
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        stage = self._choose(matching, obj, self._chance.of(name, life, *(stage.name for stage in matching)))
        after = self._delay(stage, obj, self._chance.of(name, life, stage.name, "delay"))
        label = f"{IN_SERVICE if pod.status.phase == 'Running' else 'stage'} {stage.name} {pod.metadata.resource_version}"
        return self._step(stage, obj, label, after)

    def _step(self, stage: Stage, obj: Mapping[str, Any], label: str, after: float) -> Step:
        event = stage.event
        told = (event.kind, event.reason, lambda: event.message.render(obj).strip()) if event is not None else None
        if stage.delete:
            return Step(label, after, event=told)
        template = stage.status

        def status(place: Place, now: float) -> dict[str, Any]:
            return {} if template is None else self._scope.render(template, obj, place, now)

        return Step(label, after, status, finalizers=_finalizers(stage.finalizers, obj), event=told)

    def _choose(self, stages: Sequence[Stage], obj: Any, chance: float) -> Stage:
        """By weight; with no weight above 0, any."""
        weights = [max(0.0, _number(stage.weight, obj) or 0.0) for stage in stages]
        if not any(weights):
            weights = [1.0] * len(stages)
        left = chance * sum(weights)
        for stage, weight in zip(stages, weights, strict=True):
            left -= weight
            if left < 0:
                return stage
        return stages[-1]

    def _delay(self, stage: Stage, obj: Any, chance: float) -> float:
        duration = self._seconds(stage.duration, obj) or 0.0
        jitter = self._seconds(stage.jitter, obj)
        if jitter is None:
            return duration
        return jitter if jitter <= duration else duration + (jitter - duration) * chance

    def _seconds(self, measure: Measure, obj: Any) -> float | None:
        """A duration as a text, or how long it is until a time."""
        values = measure.found(obj) if measure.found is not None else []
        for value in values[:1]:
            found = parsed(str(value))
            try:
                return found if found is not None else max(0.0, parse_rfc3339(str(value)) - self._clock.now())
            except ValueError:
                break
        return measure.plain


class Scope:
    """What templates can ask for besides the object: the time, and where the pod is."""

    def __init__(self) -> None:
        self._place, self._now = Place("", ""), 0.0
        self.functions: Mapping[str, Callable[..., Any]] = {
            "Now": lambda: rfc3339(self._now),
            "Quote": lambda value: msgspec.json.encode(to_text(value)).decode(),
            "NodeIP": lambda: self._place.host_ip,
            "NodeIPWith": lambda *_: self._place.host_ip,
            "PodIP": lambda: self._place.pod_ip,
            "PodIPWith": lambda *_: self._place.pod_ip,
            "YAML": lambda value, *_: msgspec.json.encode(value).decode(),  # JSON is YAML, whatever the indent
        }

    def render(self, template: Template, obj: Any, place: Place, now: float) -> dict[str, Any]:
        import yaml

        self._place, self._now = place, now
        text = template.render(obj)
        found = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
        if not isinstance(found, dict):
            raise TemplateError(f"the status is no object: {text}")
        status: dict[str, Any] = msgspec.to_builtins(found)  # dates become texts again
        return status


def _finalizers(change: Mapping[str, Any], obj: Mapping[str, Any]) -> list[str] | None:
    """What the list shall be; None where it stays."""
    present = [*(obj["metadata"].get("finalizers") or ())]
    removed = {each["value"] for each in change.get("remove") or ()}
    kept = [] if change.get("empty") else [each for each in present if each not in removed]
    wanted = [*kept, *(each["value"] for each in change.get("add") or () if each["value"] not in kept)]
    return wanted if wanted != present else None


def _number(measure: Measure, obj: Any) -> float | None:
    for value in measure.found(obj)[:1] if measure.found is not None else ():
        try:
            return float(value)
        except (TypeError, ValueError):
            break
    return measure.plain


# -- reading


def read(document: Mapping[str, Any], scope: Scope) -> Stage:
    """A Stage object; StageError where it asks for what has no place here."""
    name = (document.get("metadata") or {}).get("name") or "?"
    try:
        return _stage(name, document.get("spec") or {}, scope)
    except (StageError, TemplateError) as error:
        raise StageError(f"Stage {name}: {error}") from error


def _stage(name: str, spec: Mapping[str, Any], scope: Scope) -> Stage:
    _known(spec, _SPEC, "spec")
    kind = (spec.get("resourceRef") or {}).get("kind")
    if kind != "Pod":
        raise StageError(f"stages of kind {kind} are not supported: nodes register and send heartbeats by themselves")
    delay = spec.get("delay") or {}
    return Stage(
        name,
        _requirements(spec.get("selector") or {}),
        Measure(spec.get("weight", 0), _from(spec, "weightFrom")),
        Measure(delay.get("durationMilliseconds", 0) / 1000, _from(delay, "durationFrom")),
        Measure(_milliseconds(delay, "jitterDurationMilliseconds"), _from(delay, "jitterDurationFrom")),
        **_next(_steps(spec), scope),
    )


def _steps(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is to happen, whether as `next` or as `steps`, its newer form."""
    found: dict[str, Any] = dict(spec.get("next") or {})
    for step in spec.get("steps") or ():
        if (patch := step.get("patch")) is not None:
            if patch.get("root", "status") != "status" or patch.get("type", "strategic") == "json":
                raise StageError("steps: only strategic and merge patches of the status are supported")
            found["statusTemplate"] = patch.get("template", "")
        found |= {key: value for key, value in step.items() if key != "patch"}
    _known(found, _NEXT, "next")
    return found


def _next(spec: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    template, told = spec.get("statusTemplate"), spec.get("event")
    event = None
    if told is not None:
        event = Event(told.get("type", "Normal"), told.get("reason", ""), Template(told.get("message", ""), scope.functions))
    return {
        "status": Template(template, scope.functions) if template else None,
        "delete": bool(spec.get("delete")),
        "finalizers": spec.get("finalizers") or {},
        "event": event,
    }


def _known(body: Mapping[str, Any], names: set[str], where: str) -> None:
    if unknown := set(body) - names:
        raise StageError(f"{where}: {', '.join(sorted(unknown))} not supported")


def _milliseconds(delay: Mapping[str, Any], name: str) -> float | None:
    value = delay.get(name)
    return None if value is None else value / 1000


def _from(body: Mapping[str, Any], name: str) -> expressions.Expression | None:
    source = body.get(name)
    if source is None:
        return None
    text = source.get("expressionFrom") or (source.get("jq") or {}).get("expression")
    if not text:
        raise StageError(f"{name}: an expression is missing")
    return expressions.parse(text)


def _requirements(selector: Mapping[str, Any]) -> list[Requirement]:
    _known(selector, {"matchLabels", "matchAnnotations", "matchExpressions"}, "selector")
    found: list[Requirement] = []
    for member in ("labels", "annotations"):
        wanted = selector.get(f"match{member.capitalize()}") or {}
        found += [_equals(member, key, value) for key, value in wanted.items()]
    return found + [_requirement(each) for each in selector.get("matchExpressions") or ()]


def _equals(member: str, key: str, value: str) -> Requirement:
    return lambda obj: (obj["metadata"].get(member) or {}).get(key) == value


def _requirement(body: Mapping[str, Any]) -> Requirement:
    body = body.get("jq") or body
    key, operator = body.get("key"), body.get("operator")
    if not isinstance(key, str):
        raise StageError("selector.matchExpressions: only keys are supported, no CEL")
    if operator not in _OPERATORS:
        raise StageError(f"selector.matchExpressions: operator {operator}: choose one of {', '.join(_OPERATORS)}")
    expression, values = expressions.parse(key), set(map(str, body.get("values") or ()))
    if operator in {"Exists", "DoesNotExist"}:
        return lambda obj: bool(expression(obj)) == (operator == "Exists")
    return lambda obj: any(to_text(value) in values for value in expression(obj)) == (operator == "In")
