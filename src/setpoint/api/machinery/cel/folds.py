"""The macros over ranges, and bindings, as functions of a frame.

cel-go turns each into a loop with an accumulator; the steps of that loop are what a round costs here, though fewer are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from setpoint.api.machinery.cel.frame import Frame, Run
from setpoint.api.machinery.cel.syntax import Expr, Fold
from setpoint.api.machinery.cel.values import NO_OVERLOAD, CelError

#: the price of a round beside its predicate and result, and of the start and end, by macro
_ROUNDS = {"all": 3, "exists": 4}
#: the price of keeping an item or a result, by macro; what is kept in maps is put there by key
_KEPT = {"filter": 13, "map": 12, "transformList": 12, "transformMap": 3, "transformMapEntry": 2}
_Rounds = Callable[[Frame], Iterable[Any]]


class Builder(Protocol):
    """What folds need of the compiler."""

    def build(self, node: Expr) -> Run: ...

    def enter(self, name: str) -> int: ...

    def leave(self) -> None: ...


def build_fold(builder: Builder, node: Fold) -> Run:
    """The function of a macro."""
    source = builder.build(node.range)
    slots = [builder.enter(name) for name in node.names]
    condition = builder.build(node.condition) if node.condition is not None else None
    result = builder.build(node.result) if node.result is not None else None
    for _ in node.names:
        builder.leave()
    if node.kind == "bind" and result is not None:
        return _bind(source, slots[0], result)
    rounds = _rounds(source, slots, _ROUNDS.get(node.kind, 0))
    if condition is not None and node.kind in {"all", "exists"}:
        return _quantified(rounds, condition, stop=node.kind == "exists")
    if condition is not None and node.kind == "exists_one":
        return _exactly_one(rounds, condition)
    return _collecting(node.kind, rounds, condition, result, slots)


def _bind(source: Run, slot: int, body: Run) -> Run:
    def run(frame: Frame) -> Any:
        frame.values[slot] = source(frame)
        return body(frame)

    return run


def _rounds(source: Run, slots: list[int], price: int) -> _Rounds:
    """Sets the variables round by round; what it yields is the item (of a list) or key (of a map)."""

    def rounds(frame: Frame) -> Iterable[Any]:
        holder = source(frame)
        if not isinstance(holder, list | dict):
            raise CelError(NO_OVERLOAD)
        first = slots[0]
        if len(slots) == 1:
            for item in holder:
                frame.round(price)
                frame.values[first] = item
                yield item
            return
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in pairs:
            frame.round(price)
            frame.values[first] = key
            frame.values[slots[1]] = value
            yield key

    return rounds


def _holds(condition: Run, frame: Frame) -> bool:
    value = condition(frame)
    if value is not True and value is not False:
        raise CelError(NO_OVERLOAD)
    return bool(value)


def _quantified(rounds: _Rounds, condition: Run, *, stop: bool) -> Run:
    """`all` and `exists`: one item may decide, even if others fail."""

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        decided = False
        for _ in rounds(frame):
            if decided:  # the loop's condition is looked at once more, and ends it
                return stop
            try:
                decided = _holds(condition, frame) is stop
            except CelError as error:
                failure = error
        frame.spend(1)
        if failure is not None and not decided:
            raise failure
        return stop if decided else not stop

    return run


def _exactly_one(rounds: _Rounds, condition: Run) -> Run:
    def run(frame: Frame) -> bool:
        count = 0
        for _ in rounds(frame):
            if _holds(condition, frame):
                frame.spend(2)
                count += 1
        frame.spend(2)
        return count == 1

    return run


def _collecting(kind: str, rounds: _Rounds, condition: Run | None, result: Run | None, slots: list[int]) -> Run:
    mapping = kind in {"transformMap", "transformMapEntry"}
    make, kept = dict if mapping else list, _KEPT[kind]

    def run(frame: Frame) -> Any:
        out: Any = make()
        for item in rounds(frame):
            if condition is not None and not _holds(condition, frame):
                continue
            frame.spend(kept)
            value = item if result is None else result(frame)
            if kind == "transformMapEntry":
                _insert(out, value)
            elif mapping:
                out[frame.values[slots[0]]] = value
            else:
                out.append(value)
        frame.spend(1)
        return out

    return run


def _insert(out: dict[Any, Any], entries: Any) -> None:
    for key, value in entries.items():
        if key in out:
            raise CelError(f"insert failed: key {key} already exists")
        out[key] = value
