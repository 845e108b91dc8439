"""Strategic merge patch: a merge patch that knows, from the schema, which lists are merged and by which key.

Directives: `$patch: replace|delete` in a map or list item, `$deleteFromPrimitiveList/x`, `$setElementOrder/x`, `$retainKeys`.
Source: apimachinery's `util/strategicpatch`, accidents included: an item's `$patch: merge` is an internal error, and of what the
object did not have yet only maps with a `$patch` are left out, while the other directives stay as they are.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.patch.json_values import go_print, go_text, go_type, json_type
from setpoint.api.machinery.patch.merge import without_nulls
from setpoint.api.machinery.patch.order import in_order, partition, same_key
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError, bad_request

Json = dict[str, Any]

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM_LIST = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


def apply(obj: Json, patch: Any, node: Node) -> Json:
    """The patched object; `node` is the schema of `obj`.

    The result is as loose as the patch: it has yet to be checked against the schema (`patch.restore`) and made canonical.
    """
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        raise bad_request(f"json: cannot unmarshal {json_type(patch)} into Go value of type map[string]interface {{}}")
    return merge_map(obj, patch, node)


def internal(message: str) -> StatusError:
    """A plain Go error, which the API server answers as a 500 without a reason."""
    return StatusError(500, "", message)


def _bad_type(expected: Any, actual: Any) -> StatusError:
    return internal(f"expected a {go_type(expected)}, but received a {go_type(actual)}")


def merge_map(original: Json, patch: Json, node: Node) -> Json:
    if DIRECTIVE in patch:
        return _whole(patch)
    merged, rest = dict(original), dict(patch)
    if RETAIN_KEYS in rest:
        _retain(merged, rest)
    _merge_ordered(merged, rest, node)
    for key, value in rest.items():
        _merge_field(merged, key, value, node)
    return merged


def _whole(patch: Json) -> Json:
    """A map with a `$patch` directive stands for itself."""
    directive = patch[DIRECTIVE]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != DIRECTIVE}
    if directive == "delete":
        return {}
    raise internal(f"unknown patch type: {go_text(directive)} in map: {go_print(patch)}")


def _retain(merged: Json, patch: Json) -> None:
    """Drop what `$retainKeys` does not name; it must name all that the patch sets."""
    kept = patch.pop(RETAIN_KEYS)
    if not isinstance(kept, list):
        raise bad_request("invalid patch format of retainKeys")
    names = {name for name in kept if isinstance(name, str)}
    for key, value in patch.items():
        if value is not None and key not in names and not key.startswith((DELETE_FROM_LIST, SET_ORDER)):
            raise bad_request("invalid patch format of retainKeys")
    for key in [key for key in merged if key not in names]:
        del merged[key]


def _merge_field(merged: Json, key: str, value: Any, node: Node) -> None:
    deleting = key.startswith(DELETE_FROM_LIST)
    if deleting:
        key = _directive_field(key, DELETE_FROM_LIST, "invalid patch format of primitive list")
    if value is None:
        merged.pop(key, None)
        return
    current = merged.get(key)
    if type(current) is not type(value):
        if not deleting:
            _add(merged, key, value)
        return
    if not isinstance(value, (dict, list)):
        merged[key] = value
        return
    child = _child(node, key)
    strategy = _strategy(child)
    if isinstance(value, dict):
        merged[key] = value if strategy == "replace" else merge_map(merged[key], value, child)
    elif strategy == "merge" or deleting:
        merged[key] = merge_list(merged[key], value, child, deleting=deleting)
    else:
        merged[key] = value


def _add(merged: Json, key: str, value: Any) -> None:
    """Set what the object has not, or has with another type: without nulls, and without anything that is a directive."""
    if _is_directive(value):
        merged.pop(key, None)
    else:
        merged[key] = _without_directives(without_nulls(value))


def _without_directives(value: Any) -> Any:
    """`value` without the maps below it that have a `$patch`."""
    if isinstance(value, dict):
        return {key: _without_directives(item) for key, item in value.items() if not _is_directive(item)}
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value


def _directive_field(key: str, prefix: str, complaint: str) -> str:
    """`finalizers` of `$deleteFromPrimitiveList/finalizers`."""
    found, separator, name = key.partition("/")
    if not separator or found != prefix:
        raise bad_request(complaint)
    return name


def _child(node: Node, key: str) -> Node:
    child = node.child(key)
    if child is None:
        type_name = (node.go or node.definition).rpartition(".")[2]
        raise internal(f'unable to find api field in struct {type_name} for the json field "{key}"')
    return child


def _strategy(node: Node) -> str:
    """`merge` or `replace`, whatever stands beside it."""
    return next((word for word in node.patch_strategy.split(",") if word not in ("retainKeys", "")), "")


# --- lists ---


def merge_list(original: list[Any], patch: list[Any], node: Node, *, deleting: bool = False) -> list[Any]:
    """Merge by key, or as a set of scalars; the patch's order wins, the server's items keep their place as well as they can."""
    if not original and not patch:
        return original
    key = node.merge_key
    if _element_type(original, patch) is not dict:
        if deleting:
            return [item for item in original if not any(same_key(item, other) for other in patch)]
        merged = _without_duplicates([*original, *patch])
        key = ""
    else:
        if not key:
            raise internal("cannot merge lists without merge key for struct")
        original, patch = _special_items(original, patch, key)
        merged = _merge_items(original, patch, node, key)
    named, others = partition(merged, patch, key)
    return in_order(named, others, patch, original, key)


def _element_type(*lists: list[Any]) -> type:
    """The one type that all items have."""
    found: type | None = None
    for items in lists:
        for item in items:
            if found is None:
                found = type(item)
                if found is list:
                    raise StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})
            elif type(item) is not found:
                raise internal(f"list element types are not identical: {go_print(list(lists))}")
    if found is None:
        raise internal("no elements in any of the given slices")
    return found


def _without_duplicates(items: list[Any]) -> list[Any]:
    """Each scalar once; the last item takes the place of a duplicate, as Kubernetes' in-place algorithm has it."""
    items, last, i = list(items), len(items) - 1, 0
    while i < last:
        j = i + 1
        while j <= last:
            if same_key(items[i], items[j]):
                items[j] = items[last]
                items.pop()
                last -= 1
            else:
                j += 1
        i += 1
    return items


def _special_items(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Carry out the `$patch` directives of list items: what is left of the list, and of the patch."""
    plain: list[Any] = []
    replace = False
    for item in patch:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            plain.append(item)
        elif directive == "delete":
            _keyed(item, key)
            original = [other for other in original if not _matches(other, key, item[key])]
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise internal("merging lists cannot yet be specified in the patch")
        else:
            raise internal(f"unknown patch type: {go_text(directive)} in map: {go_print(item)}")
    return (plain, []) if replace else (original, plain)


def _matches(item: Any, key: str, value: Any) -> bool:
    return key in item and same_key(item[key], value)


def _no_key(item: Json, key: str) -> StatusError:
    return internal(f"map: {go_print(item)} does not contain declared merge key: {key}")


def _merge_items(original: list[Any], patch: list[Any], node: Node, key: str) -> list[Any]:
    merged = list(original)
    for item in patch:
        _keyed(item, key)
        for position, other in enumerate(merged):
            if _matches(other, key, item[key]):
                merged[position] = merge_map(other, item, node.items or node)
                break
        else:
            merged.append(item)
    return merged


def _merge_ordered(merged: Json, patch: Json, node: Node) -> None:
    """Carry out `$setElementOrder` directives together with the lists that they order."""
    for directive in [key for key in patch if key.startswith(SET_ORDER)]:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise _bad_type([], order)
        field = _directive_field(directive, SET_ORDER, "invalid patch format of setElementOrder list")
        for source in (merged, patch):
            if not isinstance(source.get(field, []), list):
                raise _bad_type([], source[field])
        child = _child(node, field)
        if child.kind != "list":
            raise internal("expected slice or array type, but got: struct")
        _check_order(patch.get(field, []), order, child.merge_key)
        if field in merged or field in patch:
            merged[field] = _ordered(merged.get(field), patch.pop(field, None), child, order)


def _ordered(live: list[Any] | None, patch: list[Any] | None, node: Node, order: list[Any]) -> list[Any]:
    """The merged list in the order that was asked for; None is a list that is not there."""
    if live is None or patch is None:
        merged = live or _without_directives(patch or [])
    else:
        merged = merge_list(live, patch, node) if _strategy(node) == "merge" else patch
    key = node.merge_key
    for item in (*merged, *order) if key else ():
        _keyed(item, key)
    named, others = partition(merged, order, key)
    _element_type(live or [], patch or [])
    return in_order(named, others, order, live or [], key)


def _keyed(item: Any, key: str) -> Any:
    """The merge key's value of a list item."""
    if not isinstance(item, dict):
        raise _bad_type({}, item)
    if key not in item:
        raise _no_key(item, key)
    return item[key]


def _check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """The items of the patch must stand in the order list, in the same order."""
    if not patch or not order:
        return
    plain = [item for item in patch if not (isinstance(item, dict) and DIRECTIVE in item)] if key else patch
    position = 0
    for wanted in order:
        if position == len(plain):
            return
        if _same_item(plain[position], wanted, key):
            position += 1
    if position < len(plain):
        raise internal(f"The order in patch list:\n{go_print(patch)}\n doesn't match {SET_ORDER} list:\n{go_print(order)}\n")


def _same_item(left: Any, right: Any, key: str) -> bool:
    return same_key(_keyed(left, key), _keyed(right, key)) if key else same_key(left, right)
