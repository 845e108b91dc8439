"""Objects as Kubernetes' Go structs round-trip them (design, decision 2).

A built-in kind is read into a struct, stored as protobuf and written from a struct again. What that does to its JSON:

- null is absence; in a list or a map it is the zero of the item.
- A zero scalar, empty list or empty map vanishes where the field holds a value with `omitempty`; a pointer keeps its zero.
- A struct by value always appears (`resources: {}`), so do fields without `omitempty`; there an empty list or map is null,
  since protobuf cannot tell empty from nil; a zero time by value is null, a zero quantity `0`.
- Times become whole seconds in UTC, micro times six digits; quantities their canonical spelling; bytes plain base64.

The same pass checks types, since it looks at every value anyway: whatever a Go struct could not hold raises Unfit. Unknown
fields are dropped (`canonicalise`) or raise Unfit too (`fit`, with which decoding finds out whether it must look closer).
Custom resources keep what they are given: only their metadata goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from setpoint.api.machinery.schema import scalars, times
from setpoint.api.machinery.schema.node import Fields, Node
from setpoint.api.machinery.schema.scalars import Operation, Unfit
from setpoint.api.machinery.settled import is_shared

#: what an operation returns for "not written"
_DROP: Any = object()

#: fields of features that are off by default in 1.36: never stored
DISABLED = frozenset(
    {
        ("io.k8s.api.core.v1.Lifecycle", "stopSignal"),  # ContainerStopSignals
        ("io.k8s.api.core.v1.PodSpec", "schedulingGroup"),  # GenericWorkload
        ("io.k8s.api.core.v1.PodStatus", "nodeAllocatableResourceClaimStatuses"),  # DRANodeAllocatableResources
        ("io.k8s.api.core.v1.VolumeMountStatus", "volumeStatus"),  # ImageVolumeWithDigest
        ("io.k8s.api.core.v1.VolumeProjection", "clusterTrustBundle"),  # ClusterTrustBundleProjection
        ("io.k8s.api.core.v1.VolumeProjection", "podCertificate"),  # PodCertificateRequest
        ("io.k8s.api.resource.v1.Device", "nodeAllocatableResourceMappings"),  # DRANodeAllocatableResources
        ("io.k8s.api.resource.v1.DeviceAttribute", "bools"),  # DRAListTypeAttributes
        ("io.k8s.api.resource.v1.DeviceAttribute", "ints"),
        ("io.k8s.api.resource.v1.DeviceAttribute", "strings"),
        ("io.k8s.api.resource.v1.DeviceAttribute", "versions"),
        ("io.k8s.api.storage.v1.CSIDriverSpec", "preventPodSchedulingIfMissing"),  # VolumeLimitScaling
    }
)

#: structs that go altogether where nothing is left but such a field
GONE_WITHOUT: Mapping[str, str] = {"io.k8s.api.core.v1.Lifecycle": "stopSignal"}

#: lists that an omitted one is defaulted for and an empty one is refused: what was sent empty must be told apart until then
TOLD_APART = frozenset({("io.k8s.api.autoscaling.v2.HPAScalingRules", "policies")})

_ZEROS: Mapping[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "int-or-string": 0,
    "quantity": "0",
    "time": None,
    "micro-time": None,
    "bytes": None,
    "any": None,
    "list": None,
    "map": None,
}
_STRUCTS = {"object", "quantity", "int-or-string", "time", "micro-time"}
NOTHING: Mapping[str, Any] = {}


def canonicalise(
    obj: dict[str, Any], node: Node, *, empties: bool = False, settled: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:
    """Brings an object into the form that is stored, in place, and returns it; unknown fields are dropped.

    `empties`: as the struct is before it is stored, with empty lists in fields that are always written.
    `settled`: an object in that form already, which `obj` may share parts with (a spec, where only status has changed).
    Raises ValueError for what cannot be held (Unfit; for texts that are no quantity, time or base64 their own complaint).
    """
    return (_lenient_sent if empties else _lenient).plan_of(node).run_beside(obj, settled)


def fit(obj: dict[str, Any], node: Node, *, empties: bool = False, settled: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """As `canonicalise`, but an unknown field raises Unfit; after an error the object is half done and of no use."""
    return (_strict_sent if empties else _strict).plan_of(node).run_beside(obj, settled)


class Plan:
    """One struct's pass. Compiled when first run, so that recursive types end."""

    __slots__ = ("_absent", "_compiler", "_kept", "_node", "_nulls", "_operations", "_scalars")

    def __init__(self, node: Node, compiler: Compiler) -> None:
        self._node = node
        self._compiler = compiler
        # strings and booleans are most of what there is, and are told by their type; `kept` are those written even when zero
        self._scalars: dict[str, type] = {}
        self._kept: set[str] = set()
        #: what a null becomes
        self._nulls: Mapping[str, Operation] = {}
        self._operations: Mapping[str, Operation] = {}
        self._absent: tuple[tuple[str, Callable[[], Any]], ...] | None = None

    def run(self, obj: dict[str, Any]) -> dict[str, Any]:
        if type(obj) is not dict:
            raise Unfit
        if self._absent is None:
            self._compile()
        scalar_of, operations = self._scalars.get, self._operations
        dropped = []
        for name, value in obj.items():
            if type(value) is scalar_of(name):
                if not value and name not in self._kept:
                    dropped.append(name)
            else:
                changed = (operations if value is not None else self._nulls)[name](value)
                if changed is not value:
                    if changed is _DROP:
                        dropped.append(name)
                    else:
                        obj[name] = changed
        for name in dropped:
            del obj[name]
        for name, make in self._absent or ():
            if name not in obj:
                obj[name] = make()
        return obj

    def run_beside(self, obj: dict[str, Any], settled: Mapping[str, Any]) -> dict[str, Any]:
        """As `run`, but what `obj` shares with `settled` is left as it is."""
        if not settled or type(obj) is not dict:
            return self.run(obj)
        shared = {name for name, value in obj.items() if is_shared(value, name, settled)}
        if not shared:
            return self.run(obj)
        rest = self.run({name: value for name, value in obj.items() if name not in shared})
        for name in [name for name in obj if name not in shared and name not in rest]:
            del obj[name]
        obj.update((name, value) for name, value in rest.items() if name not in shared)
        return obj

    def _compile(self) -> None:
        node, compiler = self._node, self._compiler
        fields = {name: field for name, field in node.fields.items() if (node.definition, name) not in DISABLED}
        for name, field in fields.items():
            if field.builtin and field.kind in {"string", "boolean"}:
                self._scalars[name] = str if field.kind == "string" else bool
                if field.pointer or field.always:
                    self._kept.add(name)
        unknown = compiler.unknown if node.builtin else _as_it_is
        told_apart = {name for name in fields if (node.definition, name) in TOLD_APART}
        operations = {name: compiler.operation(field, told_apart=name in told_apart) for name, field in fields.items()}
        self._operations = _Operations(operations, unknown)
        self._nulls = _Operations({name: compiler.of_null(field) for name, field in fields.items()}, unknown)
        written = ((name, field) for name, field in fields.items() if field.builtin and _written(field))
        self._absent = tuple((name, compiler.maker(field)) for name, field in written)


class _Operations(dict[str, Operation]):
    """Operations by field, and what to do with a field that the tree does not know."""

    def __init__(self, operations: Mapping[str, Operation], unknown: Operation) -> None:
        super().__init__(operations)
        self.unknown = unknown

    def __missing__(self, name: str) -> Operation:
        return self.unknown


def _drop(_: Any) -> Any:
    return _DROP


def _refuse(_: Any) -> Any:
    raise Unfit("unknown field")


def _or_gone(run: Operation, name: str, value: Any) -> Any:
    """Drops a struct that held nothing but the field of that name."""
    held = type(value) is dict and value.get(name) is not None
    return run(value) or (_DROP if held else value)


def _written(node: Node) -> bool:
    """Whether the field is written even when empty."""
    if node.omitzero:
        return False
    by_value = not node.pointer and (node.kind in _STRUCTS or node.go == "runtime.RawExtension")
    return node.always or by_value


class Compiler:
    """Makes the passes, which differ in what they do with unknown fields, and with empty lists that are always written."""

    def __init__(self, unknown: Operation, *, empties: bool = False) -> None:
        self.unknown = unknown
        self.empties = empties
        #: by the identity of a struct's fields, which every field of that type shares
        self._plans: dict[int, tuple[Fields, Plan]] = {}

    def plan_of(self, node: Node) -> Plan:
        fields = node.fields
        found = self._plans.get(id(fields))
        if found is None:
            found = self._plans[id(fields)] = (fields, Plan(node, self))
        return found[1]

    def maker(self, node: Node) -> Callable[[], Any]:
        """What to write where a field that is always written is absent."""
        if node.kind == "object" and not node.pointer:
            plan = self.plan_of(node)
            return lambda: plan.run({})
        value = None if node.pointer else _ZEROS[node.kind]
        return lambda: value

    def of_null(self, node: Node) -> Operation:
        """What a field makes of null: its zero where one is written, else nothing."""
        if not node.builtin:
            return _as_it_is
        if not _written(node):
            return _drop
        make = self.maker(node)
        return lambda _: make()

    def operation(self, node: Node, *, told_apart: bool) -> Operation:
        """The work on one field's value other than null, presence included."""
        if not node.builtin:
            return _as_it_is
        inner = self._value(node)
        if node.kind == "list" and self.empties and (node.always or told_apart):
            return inner
        if node.kind in {"list", "map"}:
            empty = self.of_null(node)
            return lambda value: inner(value) or empty(value)
        if node.pointer or node.always or node.kind not in {"integer", "number", "bytes"}:
            return inner
        return lambda value: inner(value) or _DROP

    def _object(self, node: Node) -> Operation:
        run, name = self.plan_of(node).run, GONE_WITHOUT.get(node.definition)
        return run if name is None else partial(_or_gone, run, name)

    def _value(self, node: Node) -> Operation:
        """The work on a value that is not null."""
        match node.kind:
            case "object":
                return self._object(node)
            case "list":
                return self._list(node)
            case "map":
                return self._map(node)
            case "any":
                return self._choice(node) if node.choices else _as_it_is
            case "time":
                return times.canonical if node.pointer or node.omitzero else scalars.time_by_value
        return scalars.operation(node)

    def _list(self, node: Node) -> Operation:
        item = _required(node)
        if item.kind == "object":
            return self._structs(item)
        work = self._item(item)
        expected = {"string": str, "boolean": bool}.get(item.kind)

        def plain(value: Any) -> Any:
            if type(value) is not list:
                raise Unfit
            return value if all(type(found) is expected for found in value) else [work(found) for found in value]

        def others(value: Any) -> Any:
            if type(value) is not list:
                raise Unfit
            for index, found in enumerate(value):
                value[index] = work(found)
            return value

        return plain if expected else others

    def _structs(self, item: Node) -> Operation:
        run = self.plan_of(item).run

        def structs(value: Any) -> Any:
            if type(value) is not list:
                raise Unfit
            for found in value:
                if found is not None:
                    run(found)
            return [run({}) if found is None else found for found in value] if None in value else value

        return structs

    def _map(self, node: Node) -> Operation:
        work = self._item(_required(node))

        def each(value: Any) -> Any:
            if type(value) is not dict:
                raise Unfit
            for name, found in value.items():
                changed = work(found)
                if changed is not found:
                    value[name] = changed
            return value

        return each

    def _item(self, node: Node) -> Operation:
        """The work on a list item or a map value, where null is the zero."""
        if node.kind == "object":
            run = self.plan_of(node).run
            return lambda value: run({} if value is None else value)
        inner = self._value(node)
        empty = _ZEROS[node.kind]
        if node.kind == "string":
            return lambda value: value if type(value) is str else _null_as("", value)
        return lambda value: empty if value is None else inner(value)

    def _choice(self, node: Node) -> Operation:
        """A schema, or a boolean, a list of schemas, a list of names."""
        plan = self.plan_of(node.choices["object"])

        def choose(value: Any) -> Any:
            if isinstance(value, dict):
                return plan.run(value)
            if isinstance(value, list) and "list" in node.choices:
                return [plan.run(item if item is not None else {}) for item in value]
            if node.format == "B" and not isinstance(value, (bool, type(None))):
                raise Unfit
            return value

        return choose


def _null_as(zero: Any, value: Any) -> Any:
    if value is not None:
        raise Unfit
    return zero


def _as_it_is(value: Any) -> Any:
    return value


def _required(node: Node) -> Node:
    if node.items is None:
        raise TypeError(f"{node} has no items")
    return node.items


_lenient = Compiler(_drop)
_strict = Compiler(_refuse)
_lenient_sent = Compiler(_drop, empties=True)
_strict_sent = Compiler(_refuse, empties=True)
