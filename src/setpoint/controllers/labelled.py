"""What a selector finds in a cache, without a look at every object of its namespace.

`add_index(BY_LABEL, by_label)` on the informer first. A selector that asks for one value of some label is answered from the
objects that have it; others look at the whole namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.client.objects import HasMetadata
from setpoint.client.store import Store

T = TypeVar("T", bound=HasMetadata)
BY_LABEL = "label"


def by_label(obj: Any) -> list[str]:
    """Index function for BY_LABEL."""
    meta = obj.metadata
    return [f"{meta.namespace}/{key}={value}" for key, value in meta.labels.items()] if meta.labels else []


def selected(objects: Store[T], namespace: str, selector: LabelSelector) -> list[T]:
    """The objects of a namespace that a selector matches."""
    matches = selector.matches
    return [obj for obj in _candidates(objects, namespace, selector) if matches(obj.metadata.labels or {})]


def _candidates(objects: Store[T], namespace: str, selector: LabelSelector) -> list[T]:
    for requirement in selector.requirements:
        value = selector.exact(requirement.key)
        if value is not None:
            return objects.by_index(BY_LABEL, f"{namespace}/{requirement.key}={value}")
    return objects.list(namespace)


def with_labels(objects: Store[T], namespace: str, labels: Mapping[str, str]) -> list[T]:
    """The objects of a namespace that have all of some labels, as Services choose them; none where nothing is asked for."""
    if not labels:
        return []
    key, value = next(iter(labels.items()))
    found = objects.by_index(BY_LABEL, f"{namespace}/{key}={value}")
    if len(labels) == 1:
        return found
    return [obj for obj in found if labels.items() <= (obj.metadata.labels or {}).items()]
