"""The most and the least that an expression can cost, from the sizes that its values may have.

Sources: cel-go's `checker/cost.go` and Kubernetes' `apiserver/pkg/cel/library/cost.go`. What a rule is estimated to cost decides
whether a definition is accepted, so even the odd corners are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from setpoint.api.machinery.cel.calls import CALLS, Estimated
from setpoint.api.machinery.cel.running_cost import LIST, MAP
from setpoint.api.machinery.cel.schema_types import Decl
from setpoint.api.machinery.cel.spans import FREE, NONE, ONE, UNKNOWN, Span, fixed
from setpoint.api.machinery.cel.syntax import Call, Expr, Fold, Ident, ListNode, Literal, MapNode, Select
from setpoint.api.machinery.cel.types import Type

_SCALARS = {"bool", "double", "duration", "int", "timestamp", "uint"}
Path = tuple[str, ...]


class Local(Struct, frozen=True):
    """A variable of a macro: where its values come from, and their size if known."""

    path: Path
    size: Span | None = None
    entries: Entries | None = None


class Entries(Struct, frozen=True):
    """The sizes of a container's keys and values."""

    kind: str
    key: Span
    value: Span

    def union(self, other: Entries | None) -> Entries | None:
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value)) if other else None


class Estimator:
    """The estimate of one expression on values of `root`."""

    def __init__(self, root: Decl | None) -> None:
        self._root = root
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Span] = {}
        self._entries: dict[int, Entries] = {}
        self._locals: dict[str, list[Local]] = {}

    def cost(self, node: Expr) -> Span:
        match node:
            case Ident():
                self._paths[id(node)] = self._path(node) or (node.name,)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Fold():
                return self._bind(node) if node.kind == "bind" else self._fold(node)
        return FREE

    def _path(self, node: Expr) -> Path:
        if isinstance(node, Ident) and (local := self._local(node.name)):
            return local.path
        return self._paths.get(id(node), ())

    def _local(self, name: str) -> Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _select(self, node: Select) -> Span:
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self._paths[id(node)] = (*self._path(node.operand), node.field)
        return cost + ONE if node.operand.type.name in {"map", "object", "param"} else cost

    def size(self, node: Expr) -> Span | None:
        """How big the value is, as `size()` counts; nothing if that cannot be known."""
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if (literal := _literal_size(node)) is not None:
            return fixed(literal)
        if (declared := self.declared(self._path(node))) is not None:
            self._sizes[id(node)] = declared
            return declared
        if _scalar(node.type):
            return ONE
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.size if local else None

    def declared(self, path: Path) -> Span | None:
        """The bounds that the schema has for what lies at a path."""
        if not path or self._root is None or path[0] == "@result":
            return None
        decl: Decl | None = self._root
        for name in path[1:]:
            if decl is None:
                return None
            if name in {"@items", "@values"}:
                decl = decl.items
            elif name == "@keys":
                decl = decl.key
            else:
                decl = decl.fields.get(name)
        return Span(0, decl.max_elements) if decl is not None else None

    def known_size(self, node: Expr) -> Span:
        found = self.size(node)
        return UNKNOWN if found is None else found

    def item_size(self, node: Expr) -> Span:
        """The size of a list's items."""
        path = self._path(node)
        found = self.declared((*path, "@items")) if path else None
        return UNKNOWN if found is None else found

    def _entry_sizes(self, node: Expr) -> Entries | None:
        if found := self._entries.get(id(node)):
            return found
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.entries if local else None

    def _copy(self, node: Expr, source: Expr) -> None:
        if (size := self.size(source)) is not None:
            self._sizes[id(node)] = size
        if entries := self._entry_sizes(source):
            self._entries[id(node)] = entries

    def _call(self, node: Call) -> Span:
        if node.function == "dyn":
            cost = self.cost(node.args[0]) + ONE
            self._copy(node, node.args[0])
            return cost
        costs = [self.cost(argument) for argument in node.args]
        total = self.cost(node.target) if node.target is not None else FREE
        least, most, size = math.inf, 0, None
        for overload in node.overloads:
            estimated = self._overload(node, overload, costs)
            least, most = min(least, estimated.cost.min), max(most, estimated.cost.max)
            if estimated.size is not None:
                size = estimated.size if size is None else size.union(estimated.size)
            size = self._indexed(node, overload, size)
            if size is None:
                size = self.size(node)
        if size is not None:
            self._sizes[id(node)] = size
        return total + Span(int(least), most) if node.overloads else FREE

    def _indexed(self, node: Call, overload: str, size: Span | None) -> Span | None:
        if overload not in {"index_list", "index_map"}:
            return size
        self._paths[id(node)] = (*self._path(node.args[0]), "@items" if overload == "index_list" else "@values")
        entries = self._entry_sizes(node.args[0])
        return entries.value if entries else None

    def _overload(self, node: Call, overload: str, costs: Sequence[Span]) -> Estimated:
        if overload in {"logical_or", "logical_and"}:
            return Estimated(Span(costs[0].min, (costs[0] + costs[1]).max))
        if overload == "conditional":
            return self._conditional(node, costs)
        if overload in {"add_list", "add_string", "add_bytes"}:
            one, other = (self._entry_sizes(argument) for argument in node.args)
            if one and (both := one.union(other)):
                self._entries[id(node)] = both
        args = sum(costs, FREE)
        estimate = CALLS.get(overload) or CALLS.get(node.function)
        estimated = estimate(self, node) if estimate is not None else Estimated(ONE)
        return Estimated(estimated.cost + args, estimated.size)

    def _conditional(self, node: Call, costs: Sequence[Span]) -> Estimated:
        _, truthy, falsy = node.args
        one = self._entry_sizes(truthy)
        if one and (both := one.union(self._entry_sizes(falsy))):
            self._entries[id(node)] = both
        return Estimated(costs[0] + costs[1].union(costs[2]), self.known_size(truthy).union(self.known_size(falsy)))

    def _list(self, node: ListNode) -> Span:
        total, sizes = FREE, NONE
        for item in node.items:
            total += self.cost(item)
            sizes = sizes.union(self.known_size(item))
        self._entries[id(node)] = Entries("list", ONE, sizes if node.items else FREE)
        return total + fixed(LIST)

    def _map(self, node: MapNode) -> Span:
        total, keys, values = FREE, NONE, NONE
        for entry in node.entries:
            total += self.cost(entry.key) + self.cost(entry.value)
            keys = keys.union(self.known_size(entry.key))
            values = values.union(self.known_size(entry.value))
        self._entries[id(node)] = Entries("map", keys, values) if node.entries else Entries("map", FREE, FREE)
        return total + fixed(MAP)

    def _bind(self, node: Fold) -> Span:
        total = fixed(LIST) + self.cost(node.range)
        local = Local(self._path(node.range), self.size(node.range), self._entry_sizes(node.range))
        return total + self._within({node.names[0]: local}, lambda: self._bound(node))

    def _bound(self, node: Fold) -> Span:
        if node.result is None:
            return FREE
        cost = self.cost(node.result)
        self._copy(node, node.result)
        return cost

    def _within(self, names: dict[str, Local], estimate: Callable[[], Span]) -> Span:
        for name, local in names.items():
            self._locals.setdefault(name, []).append(local)
        cost = estimate()
        for name in names:
            self._locals[name].pop()
        return cost

    def _fold(self, node: Fold) -> Span:
        cost = self.cost(node.range)
        start, end = _STARTS.get(node.kind, (FREE, ONE))
        step = self._within(self._iterated(node), lambda: self._step(node))
        count = self.known_size(node.range)
        if node.kind in {"all", "exists", "exists_one"}:
            self._sizes[id(node)] = ONE
        else:
            self._sizes[id(node)] = count
        return cost + start + count * step + end

    def _iterated(self, node: Fold) -> dict[str, Local]:
        entries, path = self._entry_sizes(node.range), self._path(node.range)
        is_list = (entries.kind if entries else node.range.type.name) == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        if len(node.names) == 1:
            name = node.names[0]
            return {name: Local((*path, "@items"), value) if is_list else Local((*path, "@keys"), key)}
        first, second = node.names
        return {
            first: Local((*path, "@indices" if is_list else "@keys"), key),
            second: Local((*path, "@items" if is_list else "@values"), value),
        }

    def _step(self, node: Fold) -> Span:
        """A round: the loop's condition and the step of the accumulator, as cel-go writes the macro out."""
        condition = self.cost(node.condition) if node.condition is not None else None
        result = self.cost(node.result) if node.result is not None else FREE
        if node.result is not None and node.kind in {"map", "transformList"}:
            self._entries[id(node)] = Entries("list", ONE, self.known_size(node.result))
        match node.kind:
            case "all" | "exists":
                predicate = condition or FREE
                return Span(1, 1 + predicate.max) + fixed(2 if node.kind == "all" else 3)
            case "exists_one":
                return (condition or FREE) + Span(1, 2)
            case "filter":
                return (condition or FREE) + Span(1, 13)
        put = result + fixed(_PUTS[node.kind])
        return put if condition is None else condition + put.union(ONE)


#: what keeping a result costs beside the result
_PUTS = {"map": 12, "transformList": 12, "transformMap": 3, "transformMapEntry": 2}
_STARTS = {
    "exists_one": (FREE, fixed(2)),
    "map": (fixed(LIST), ONE),
    "filter": (fixed(LIST), ONE),
    "transformList": (fixed(LIST), ONE),
    "transformMap": (fixed(MAP), ONE),
    "transformMapEntry": (fixed(MAP), ONE),
}


def _literal_size(node: Expr) -> int | None:
    if isinstance(node, Literal):
        return len(node.value) if isinstance(node.value, str | bytes) else 1
    if isinstance(node, ListNode):
        return len(node.items)
    return len(node.entries) if isinstance(node, MapNode) else None


def _scalar(type: Type) -> bool:
    return type.name in _SCALARS or (type.name == "optional" and _scalar(type.params[0]))


def estimate_cost(tree: Expr, root: Decl | None) -> int:
    """The most that the expression can cost on values of the declaration."""
    return Estimator(root).cost(tree).max
