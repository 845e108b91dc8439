from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.core_v1 import CONFIGMAPS
from setpoint.client.metadata import ObjectMeta, OwnerReference, metadata_only
from setpoint.controllers.garbage_collector.plan import Dependent, Observed, Owner, Plan, diff

CM = metadata_only(CONFIGMAPS)


def ref(uid: str) -> OwnerReference:
    return OwnerReference(api_version="v1", kind="ConfigMap", name=uid, uid=uid)


def dependent(uid: str, *, blocks: bool = True, waiting: bool = False) -> Dependent:
    return Dependent(uid, CM, "ns", uid, waiting, blocks)


def observed(*owners: tuple[str, Owner], dependents: tuple[Dependent, ...] = (), **what: Any) -> Observed:
    fields = {name: what.pop(name) for name in ("finalizers", "deletion_timestamp") if name in what}
    meta = ObjectMeta(name="x", uid="x", owner_references=tuple(ref(uid) for uid, _ in owners), **fields)
    return Observed("x", CM, meta, [(ref(uid), state) for uid, state in owners], dependents, **what)


def planned(plan: Plan | None, *names: str) -> Any:
    assert plan is not None
    return tuple(getattr(plan, name) for name in names)


@pytest.mark.parametrize(
    "seen",
    [
        observed(),
        observed(("a", Owner.SOLID)),
        observed(("a", Owner.IMPOSSIBLE), ("b", Owner.ABSENT)),
        observed(("a", Owner.ABSENT), deletion_timestamp="2030-01-01T00:00:00Z"),
    ],
)
def test_left_alone(seen: Observed) -> None:
    assert diff(seen) is None


def test_without_any_owner_it_is_deleted_as_its_finalizers_wish() -> None:
    assert planned(diff(observed(("a", Owner.ABSENT))), "delete") == ("Background",)
    assert planned(diff(observed(("a", Owner.ABSENT), finalizers=("orphan",))), "delete") == ("Orphan",)
    assert planned(diff(observed(("a", Owner.ABSENT), finalizers=("foregroundDeletion",))), "delete") == ("Foreground",)


def test_with_one_owner_left_only_loose_references_go() -> None:
    plan = diff(observed(("a", Owner.ABSENT), ("b", Owner.SOLID), ("c", Owner.WAITING)))
    assert planned(plan, "release", "delete") == (("a", "c"), "")


def test_an_owner_of_unknown_kind_keeps_it_for_now() -> None:
    assert planned(diff(observed(("a", Owner.UNKNOWN), ("b", Owner.ABSENT))), "delete", "release", "wait") == ("", (), 30.0)


def test_a_waiting_owner_cascades_in_the_foreground_only_where_there_is_more_below() -> None:
    assert planned(diff(observed(("a", Owner.WAITING))), "delete") == ("Background",)
    below = diff(observed(("a", Owner.WAITING), dependents=(dependent("d"),)))
    assert planned(below, "delete", "unblock") == ("Foreground", False)
    circle = diff(observed(("a", Owner.WAITING), dependents=(dependent("d", waiting=True),)))
    assert planned(circle, "delete", "unblock") == ("Foreground", True)


def test_foreground_waits_for_blocking_dependents_alone() -> None:
    blocked = observed(dependents=(dependent("d"), dependent("e", blocks=False)), foreground=True)
    assert planned(diff(blocked), "look", "finalizer") == (("d",), "")
    assert diff(observed(dependents=(dependent("d", waiting=True),), foreground=True)) is None
    free = observed(dependents=(dependent("e", blocks=False),), foreground=True)
    assert planned(diff(free), "finalizer") == ("foregroundDeletion",)


def test_orphaning_frees_all_dependents_then_the_owner() -> None:
    plan = diff(observed(dependents=(dependent("d"), dependent("e")), orphaning=True))
    assert planned(plan, "orphan", "finalizer") == ((dependent("d"), dependent("e")), "orphan")


def test_what_is_not_there_is_forgotten() -> None:
    assert planned(diff(Observed("x", CM, None)), "forget") == (True,)
