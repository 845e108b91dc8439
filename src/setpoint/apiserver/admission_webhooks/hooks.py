"""Configurations as the steps use them: compiled once per change.

Source: apiserver `pkg/admission/configuration`, `pkg/admission/plugin/webhook/accessors.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import selectors
from setpoint.api.machinery.selectors import LabelSelector
from setpoint.registry.admission.match_conditions import Holder, MatchConditions
from setpoint.registry.admission.matching import Rule, read_rules

_DEFAULT_SECONDS = 10
_KNOWN_VERSIONS = ("v1", "v1beta1")


class Hook(Struct, frozen=True):
    """One webhook of one configuration. `uid` tells it from all others, of which some may have its name."""

    uid: str
    name: str
    configuration: str
    client: Mapping[str, Any]
    rules: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    conditions: MatchConditions | None
    ignores_failures: bool
    equivalent: bool
    side_effects: str | None
    seconds: int
    review_version: str
    reinvoked: bool

    def could_match(self, operation: str, places: Sequence[tuple[str, str]], subresource: str) -> bool:
        """Whether it may be about a write to one of these (group, plural)."""
        return any(rule.could_match(operation, group, plural, subresource) for rule in self.rules for group, plural in places)


def read_hooks(configurations: Sequence[Mapping[str, Any]], phase: str) -> list[Hook]:
    """All webhooks, in the order in which they are called: by their configuration's name, then as written.

    `phase` is admit or validate, as metrics call it.
    """
    ordered = sorted(configurations, key=lambda each: str(each["metadata"]["name"]))
    return [hook for each in ordered for hook in _hooks_of(each, phase)]


def _hooks_of(configuration: Mapping[str, Any], phase: str) -> Iterator[Hook]:
    name = configuration["metadata"]["name"]
    times: dict[str, int] = {}
    for given in configuration.get("webhooks") or ():
        number = times[given["name"]] = times.get(given["name"], -1) + 1
        yield _hook(given, name, f"{name}/{given['name']}/{number}", phase)


def _hook(given: Mapping[str, Any], configuration: str, uid: str, phase: str) -> Hook:
    ignores = given.get("failurePolicy") == "Ignore"
    conditions = given.get("matchConditions")
    holder = Holder(given["name"], "webhook", phase)
    return Hook(
        uid=uid,
        name=given["name"],
        configuration=configuration,
        client=given.get("clientConfig") or {},
        rules=read_rules(given.get("rules")),
        namespaces=selectors.from_object(given.get("namespaceSelector") or {}),
        objects=selectors.from_object(given.get("objectSelector") or {}),
        conditions=MatchConditions(conditions, holder, ignores_failures=ignores) if conditions else None,
        ignores_failures=ignores,
        equivalent=given.get("matchPolicy") != "Exact",
        side_effects=given.get("sideEffects"),
        seconds=given.get("timeoutSeconds") or _DEFAULT_SECONDS,
        review_version=next((each for each in given.get("admissionReviewVersions") or () if each in _KNOWN_VERSIONS), ""),
        reinvoked=given.get("reinvocationPolicy") == "IfNeeded",
    )
