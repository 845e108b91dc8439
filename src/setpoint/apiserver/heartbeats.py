"""The short way of heartbeats (design, decision 6): a patch that gives new times to an object and leaves it as it is otherwise.

In a cluster at rest nearly all writes are renewals of leases. The long way (decode, compare, validate, canonicalise) finds for
each of them what is known beforehand: nothing but that time, the time of an entry of managedFields and the resourceVersion
changes. What the short way makes is the same to the byte; whatever is not certain of that takes the long one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from setpoint.api.machinery.fields.managed import Identity
from setpoint.api.machinery.fields.restamping import Path, restamp
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.registry.strategy import Heartbeat, Object, Strategy

#: makes the changed object, which shares with the one that it gets what stays; None: it takes the long way
Renew = Callable[[Object], Object | None]
_Pair = tuple[Object, Mapping[str, Any], Path]
_BLANKS = b" \t\r\n"
_LONGEST_TIME = len("2006-01-02T15:04:05.000000Z")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z").fullmatch
_MICRO_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z").fullmatch


def renewal(call: Call, strategy: Strategy, patch: Any, manager: str, *, strategic: bool) -> Renew | None:
    """What carries out a merge or strategic merge patch on the short way; None where it is no heartbeat."""
    rule = strategy.heartbeat
    if rule is None or (rule.key and not strategic) or not call.store.codec.is_stored(call.version):
        return None
    if not isinstance(patch, dict) or not _is_whole(patch, call.request.body):
        return None
    who = Identity(manager, "Update", api_version(call.resource, call.version), call.info.subresource)

    def renew(old: Object) -> Object | None:
        if "deletionTimestamp" in old["metadata"]:
            return None
        metadata = {**old["metadata"]}
        obj = {**old, "metadata": metadata}
        entries = [{**entry} for entry in metadata.pop("managedFields", None) or ()]
        metadata["managedFields"] = entries  # comes last, as whoever tracks fields leaves it
        changed = _renewed(obj, patch, rule)
        return obj if changed and restamp(entries, who, call.store.stamp(), changed) else None

    return renew


def _is_whole(patch: Object, body: bytes) -> bool:
    """Whether a JSON document says nothing beside what was read of it: no name stands twice."""
    return orjson.dumps(patch) == body or body.translate(None, _BLANKS).count(b'":') == _names(patch)


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
            if name != leaf or len(text := str(value)) > _LONGEST_TIME or not _is_time(text, rule.micro):
                return []
            present[name] = value
            changed.append((*path, f"f:{leaf}"))
    return changed


def _pairs(obj: Object, patch: Object, rule: Heartbeat) -> list[_Pair] | None:
    """What the patch says, beside the part of the object that it says it of, which is then the object's own.

    None where it says more, or of what is not there.
    """
    for name in rule.path[: -2 if rule.key else -1]:
        inner, below = patch.get(name), obj.get(name)
        if len(patch) != 1 or not isinstance(inner, dict) or not isinstance(below, dict):
            return None
        obj[name] = below = {**below}
        patch, obj = inner, below
    above = tuple(f"f:{name}" for name in rule.path[:-1])
    if not rule.key:
        return [(obj, patch, above)]
    name = rule.path[-2]
    said, items = patch.get(name), obj.get(name)
    if len(patch) != 1 or not isinstance(said, list) or not isinstance(items, list):
        return None
    obj[name] = items = [{**item} for item in items]
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


@lru_cache(maxsize=64)
def _is_time(text: str, micro: bool) -> bool:
    """Whether it is a moment, written as it will be stored. The conditions of a node all have the same one."""
    if (_MICRO_TIME if micro else _TIME)(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
