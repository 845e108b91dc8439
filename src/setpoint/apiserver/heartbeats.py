"""The short way of heartbeats (design, decision 6): a patch that gives new times to an object and leaves it as it is otherwise.

In a cluster at rest nearly all writes are renewals of leases. The long way (decode, compare, validate, canonicalise) finds for
each of them what is known beforehand: nothing but that time, the time of an entry of managedFields and the resourceVersion
changes. What the short way makes is the same to the byte; whatever is not certain of that takes the long one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from setpoint.api.machinery.fields.managed import Identity
from setpoint.api.machinery.fields.restamping import Path, restamp
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.registry.strategy import Heartbeat, Object, Strategy

#: makes the change in an object of the caller's own; False: it takes the long way, with another copy
Renew = Callable[[Object], bool]
_Pair = tuple[Object, Mapping[str, Any], Path]


def renewal(call: Call, strategy: Strategy, patch: Any, manager: str, *, strategic: bool) -> Renew | None:
    """What carries out a merge or strategic merge patch on the short way; None where it is no heartbeat."""
    rule = strategy.heartbeat
    if rule is None or (rule.key and not strategic) or not call.store.codec.is_stored(call.version):
        return None
    if not isinstance(patch, dict) or call.request.body.count(b'":') != _names(patch):  # a name stands twice, or there are blanks
        return None
    who = Identity(manager, "Update", api_version(call.resource, call.version), call.info.subresource)

    def renew(obj: Object) -> bool:
        metadata = obj["metadata"]
        if "deletionTimestamp" in metadata:
            return False
        changed, entries = _renewed(obj, patch, rule), metadata.pop("managedFields", None)
        metadata["managedFields"] = entries  # comes last, as whoever tracks fields leaves it
        return bool(changed) and restamp(entries, who, call.store.stamp(), changed)

    return renew


def _names(value: Any) -> int:
    """How many names of fields a JSON value has."""
    if isinstance(value, dict):
        return len(value) + sum(map(_names, value.values()))
    return sum(map(_names, value)) if isinstance(value, list) else 0


def _renewed(obj: Object, patch: Object, rule: Heartbeat) -> list[Path]:
    """Set the times; the fields that have another value now. None of them where the patch says anything else."""
    leaf = rule.path[-1]
    changed: list[Path] = []
    for present, said, path in _pairs(obj, patch, rule) or ():
        for name, value in said.items():
            if name not in present or not isinstance(value, str | int) or type(value) is not type(present[name]):
                return []
            if value == present[name]:
                continue
            if name != leaf or not _is_time(str(value), rule):
                return []
            present[name] = value
            changed.append((*path, f"f:{leaf}"))
    return changed


def _pairs(obj: Object, patch: Object, rule: Heartbeat) -> list[_Pair] | None:
    """What the patch says, beside the part of the object that it says it of. None where it says more, or of what is not there."""
    for name in rule.path[: -2 if rule.key else -1]:
        inner, below = patch.get(name), obj.get(name)
        if len(patch) != 1 or not isinstance(inner, dict) or not isinstance(below, dict):
            return None
        patch, obj = inner, below
    above = tuple(f"f:{name}" for name in rule.path[:-1])
    if not rule.key:
        return [(obj, patch, above)]
    name = rule.path[-2]
    said, items = patch.get(name), obj.get(name)
    if len(patch) != 1 or not isinstance(said, list) or not isinstance(items, list):
        return None
    found = list(_in_order(items, said, rule.key, above))
    return found if len(found) == len(said) else None


def _in_order(items: list[Any], said: list[Any], key: str, above: Path) -> Iterator[_Pair]:
    """Items of two lists that stand for the same, as long as they come in the same order."""
    rest = iter(items)
    for each in said:
        value = each.get(key) if isinstance(each, dict) else None
        if not isinstance(value, str) or not value.isalnum():  # which JSON writes as it is
            return
        item = next((item for item in rest if item.get(key) == value), None)
        if item is None:
            return
        yield item, each, (*above, f'k:{{"{key}":"{value}"}}')


def _is_time(text: str, rule: Heartbeat) -> bool:
    """Whether it is a moment, written as it will be stored."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return moment.isoformat(timespec="microseconds" if rule.micro else "seconds") == text.replace("Z", "+00:00") != text
