"""Topology spread constraints, compiled; which nodes count for one; and the constraints of pods that have none of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.selectors import LabelSelector, Requirement, from_labels
from setpoint.api.types.apps_v1 import REPLICASETS, STATEFULSETS
from setpoint.api.types.core_v1 import REPLICATIONCONTROLLERS, SERVICES, Pod, TopologySpreadConstraint
from setpoint.client.node_selectors import selects
from setpoint.client.tolerations import untolerated
from setpoint.scheduler.framework import Listers
from setpoint.scheduler.node_info import NodeInfo
from setpoint.scheduler.plugin_config import PodTopologySpreadArgs
from setpoint.scheduler.pod_terms import selector_of

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SCHEDULE_ANYWAY = "ScheduleAnyway"


class Constraint(Struct, frozen=True):
    """See `spec.topologySpreadConstraints`; `honor_affinity` and `honor_taints` are its node inclusion policies."""

    max_skew: int
    topology_key: str
    selector: LabelSelector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def policies(self, pod: Pod) -> object:
        """What of the pod decides which nodes count."""
        spec = pod.spec
        affinity = spec.affinity.node_affinity if spec.affinity is not None else None
        chosen = (spec.node_selector, affinity) if self.honor_affinity and (spec.node_selector or affinity) else None
        tolerations = spec.tolerations if self.honor_taints else None
        return None if chosen is None and tolerations is None else msgspec.msgpack.encode((chosen, tolerations))


def accepts(constraint: Constraint, pod: Pod, node: NodeInfo) -> bool:
    """Whether the node counts, by the constraint's policies."""
    if constraint.honor_affinity and not selects(pod.spec, node.known):
        return False
    return not constraint.honor_taints or untolerated(pod.spec.tolerations, node.known.spec.taints) is None


def has_all_keys(node: NodeInfo, keys: Sequence[str]) -> bool:
    labels = node.labels
    for key in keys:  # noqa: SIM110 - a generator costs twice as much, and this runs for every node
        if key not in labels:
            return False
    return True


def constraints_of(pod: Pod, when: str) -> list[Constraint]:
    """The pod's own constraints of one kind (DoNotSchedule or ScheduleAnyway)."""
    declared = pod.spec.topology_spread_constraints
    return [_compiled(each, pod.metadata.labels) for each in declared if each.when_unsatisfiable == when]


def _compiled(declared: TopologySpreadConstraint, labels: Mapping[str, str]) -> Constraint:
    selector = selector_of(declared.label_selector)
    own = [Requirement(key, "in", (labels[key],)) for key in declared.match_label_keys if key in labels]
    return Constraint(
        declared.max_skew,
        declared.topology_key,
        _narrowed(selector, own),
        declared.min_domains or 1,
        (declared.node_affinity_policy or "Honor") == "Honor",
        (declared.node_taints_policy or "Ignore") == "Honor",
    )


def _narrowed(selector: LabelSelector, more: Sequence[Requirement]) -> LabelSelector:
    if not more or selector.nothing:
        return selector
    return LabelSelector(tuple(sorted({*selector.requirements, *more}, key=lambda each: each.key)))


SYSTEM = (Constraint(3, HOSTNAME, LabelSelector()), Constraint(5, ZONE, LabelSelector()))


class Defaults:
    """Constraints for pods without; `system` says that they are Kubernetes' own (soft, over nodes and zones)."""

    def __init__(self, listers: Listers, args: PodTopologySpreadArgs) -> None:
        self.system = args.defaulting_type == "System"
        self._declared = args.default_constraints
        #: by kind of constraint, what it was last made of, and what came of it
        self._given: dict[str, tuple[tuple[Sequence[Any], Sequence[Any]], Sequence[Constraint]]] = {}
        self._services = listers.of(SERVICES)
        self._owners = {
            ("apps", "ReplicaSet"): listers.of(REPLICASETS),
            ("apps", "StatefulSet"): listers.of(STATEFULSETS),
            ("", "ReplicationController"): listers.of(REPLICATIONCONTROLLERS),
        }

    def of(self, pod: Pod, when: str) -> Sequence[Constraint]:
        """What the same services and owners have given before is given again: pods of one template come one after the other."""
        if self.system and when != SCHEDULE_ANYWAY:
            return []
        sources = (self._services_of(pod), self._owners_of(pod))
        known = self._given.get(when)
        if known is not None and all(map(_are_same, known[0], sources)):
            return known[1]
        made = self._made(*sources, when)
        self._given[when] = (sources, made)
        return made

    def _made(self, services: Sequence[Mapping[str, str]], owners: Sequence[Any], when: str) -> list[Constraint]:
        selector = _together(services, owners)
        if selector.everything:
            return []
        if self.system:
            return [msgspec.structs.replace(each, selector=selector) for each in SYSTEM]
        declared = (each for each in self._declared if each.when_unsatisfiable == when)
        return [msgspec.structs.replace(_compiled(each, {}), selector=selector) for each in declared]

    def _services_of(self, pod: Pod) -> list[Mapping[str, str]]:
        """The selectors of the services that select the pod."""
        meta = pod.metadata
        found = (service.spec.selector for service in self._services.list(meta.namespace))
        return [wanted for wanted in found if wanted and all(meta.labels.get(key) == value for key, value in wanted.items())]

    def _owners_of(self, pod: Pod) -> list[Any]:
        """The selectors of the pod's controller."""
        found = []
        for reference in pod.metadata.owner_references:
            group = reference.api_version.rpartition("/")[0]
            lister = self._owners.get((group, reference.kind))
            if not reference.controller or lister is None:
                continue
            owner: Any = lister.get(f"{pod.metadata.namespace}/{reference.name}")
            if owner is not None:
                found.append(owner.spec.selector)
        return found


def _are_same(these: Sequence[object], those: Sequence[object]) -> bool:
    return len(these) == len(those) and all(map(is_, these, those))


def _together(services: Sequence[Mapping[str, str]], owners: Sequence[Any]) -> LabelSelector:
    """What all of these select."""
    labels: dict[str, str] = {}
    for wanted in services:
        labels.update(wanted)
    requirements = [*from_labels(labels).requirements]
    for selector in owners:
        requirements += (from_labels(selector) if isinstance(selector, Mapping) else selector_of(selector)).requirements
    return LabelSelector(tuple(sorted(requirements, key=lambda each: each.key)))
