"""The annotation in which kubectl keeps what it applied from the client's side, as server-side apply meets it.

Source: apimachinery `managedfields/internal/lastappliedmanager.go`, `lastappliedupdater.go`.
"""

from __future__ import annotations

from typing import Any

import orjson

from setpoint.api.machinery import names
from setpoint.api.machinery.fields import merging, sets, typed
from setpoint.api.machinery.fields.comparing import compare
from setpoint.api.machinery.fields.sets import Set
from setpoint.api.machinery.fields.shape import Shape

Json = dict[str, Any]

#: the one manager for which the annotation counts
KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def fields(live: Json, whole: Shape, api_version: str) -> Set | None:
    """The fields of the annotation that the object still has as they were applied; None if there is none to read."""
    text = (live.get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
    if not text:
        return None
    try:
        applied = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(applied, dict) or applied.get("apiVersion") != api_version:
        return None
    if typed.complaints(whole, applied):
        return None
    changes = compare(whole, applied, live)
    found = sets.difference(merging.owned(whole, applied), changes.modified)
    return sets.difference(sets.difference(found, changes.added), changes.removed)


def renew(obj: Json, applied: Json) -> None:
    """Bring the annotation up to date with what was applied, if the object has one. Changes `obj["metadata"]`."""
    annotations = obj["metadata"].get("annotations")
    if not annotations or not annotations.get(ANNOTATION):
        return
    renewed = {**annotations, ANNOTATION: _encoded(applied)}
    if names.annotations_size(renewed) > names.ANNOTATIONS_LIMIT:
        del renewed[ANNOTATION]
    obj["metadata"]["annotations"] = renewed


def _encoded(applied: Json) -> str:
    metadata = applied.get("metadata") or {}
    annotations = metadata.get("annotations")
    if annotations and ANNOTATION in annotations:
        rest = {name: value for name, value in annotations.items() if name != ANNOTATION}
        applied = {**applied, "metadata": {**metadata, "annotations": rest}}
    text = orjson.dumps(applied, option=orjson.OPT_SORT_KEYS).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e") + "\n"
