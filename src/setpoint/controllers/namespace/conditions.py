"""The conditions of a dying namespace: what was found, what is left, and which finalizers hold it. Kubernetes' words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.types.core_v1 import NamespaceCondition
from setpoint.kit.clock import rfc3339

if TYPE_CHECKING:
    from setpoint.controllers.namespace.plan import Contents


class Condition(Struct, frozen=True):
    """A condition without its time."""

    status: str
    reason: str
    message: str


DISCOVERY = "NamespaceDeletionDiscoveryFailure"
PARSING = "NamespaceDeletionGroupVersionParsingFailure"
CONTENT = "NamespaceDeletionContentFailure"
REMAINING = "NamespaceContentRemaining"
FINALIZERS = "NamespaceFinalizersRemaining"

_FINE: Mapping[str, Condition] = {
    DISCOVERY: Condition("False", "ResourcesDiscovered", "All resources successfully discovered"),
    PARSING: Condition("False", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    CONTENT: Condition("False", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    REMAINING: Condition("False", "ContentRemoved", "All content successfully removed"),
    FINALIZERS: Condition("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def of(remaining: Iterable[Contents], stale: Sequence[str], failures: Sequence[str]) -> dict[str, Condition]:
    """One condition of each type, in Kubernetes' order."""
    said = dict(_FINE)
    if stale:
        groups = ", ".join(f"{each}: stale GroupVersion discovery: {each}" for each in sorted(stale))
        why = f"unable to retrieve the complete list of server APIs: {groups}"
        said[DISCOVERY] = Condition("True", "DiscoveryFailed", f"Discovery failed for some groups, {len(stale)} failing: {why}")
    if failures:
        text = ", ".join(sorted(failures))
        message = f"Failed to delete all resource types, {len(failures)} remaining: {text}"
        said[CONTENT] = Condition("True", "ContentDeletionFailed", message)
    _count(said, list(remaining))
    return said


def _count(said: dict[str, Condition], remaining: Sequence[Contents]) -> None:
    counts = [(each.served.resource, len(each.objects)) for each in remaining if each.objects]
    if counts:
        # A core resource is printed with the empty group after the dot.
        texts = sorted(f"{resource.plural}.{resource.group} has {count} resource instances" for resource, count in counts)
        said[REMAINING] = Condition("True", "SomeResourcesRemain", f"Some resources are remaining: {', '.join(texts)}")
    finalizers = Counter(name for each in remaining for obj in each.objects for name in obj.metadata.finalizers)
    if finalizers:
        texts = sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
        message = f"Some content in the namespace has finalizers remaining: {', '.join(texts)}"
        said[FINALIZERS] = Condition("True", "SomeFinalizersRemain", message)


def merged(old: Sequence[NamespaceCondition], said: Mapping[str, Condition], now: float) -> list[dict[str, Any]] | None:
    """The conditions to write; None when nothing changes. A time moves only when the status does."""
    known = {condition.type: condition for condition in old}
    if all(_same(known.get(name), condition) for name, condition in said.items()):
        return None
    written = []
    for name in [*known, *(name for name in said if name not in known)]:
        former, wanted = known.get(name), said.get(name)
        source: Any = wanted if wanted is not None else former
        kept = former is not None and former.status == source.status and former.last_transition_time
        time = former.last_transition_time if former is not None and kept else rfc3339(now)
        written.append(
            {
                "type": name,
                "status": source.status,
                "reason": source.reason,
                "message": source.message,
                "lastTransitionTime": time,
            }
        )
    return written


def _same(old: NamespaceCondition | None, new: Condition) -> bool:
    return old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message)
