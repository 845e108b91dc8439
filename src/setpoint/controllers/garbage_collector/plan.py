"""The decision over one object: leave, release, delete, or let go of what waits for it. Pure and synchronous.

The rules are `garbagecollector.go`'s attemptToDeleteItem and processDeletingDependentsItem.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from setpoint.client.metadata import ObjectMeta, OwnerReference
from setpoint.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, View


class Owner(Enum):
    """What became of an owner: it stays, it is not there, waits for its dependents, is of a kind not served, or cannot be one."""

    SOLID = "solid"
    ABSENT = "absent"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"


class Dependent(Struct, frozen=True):
    """An object that names the observed one as an owner."""

    uid: str
    resource: View | None
    namespace: str
    name: str
    deleting_dependents: bool
    blocks: bool


class Observed(Struct, frozen=True):
    """An object as the server has it now (`meta` is None: not there), its owners' states and its dependents.

    `foreground` and `orphaning` are the two ways in which it is being deleted and concerns its dependents.
    """

    uid: str
    resource: View | None
    meta: ObjectMeta | None
    owners: Sequence[tuple[OwnerReference, Owner]] = ()
    dependents: Sequence[Dependent] = ()
    foreground: bool = False
    orphaning: bool = False


class Plan(Struct, frozen=True):
    """Done in this order: `orphan` dependents, remove a `finalizer`, `release` owners, `unblock`, `delete`.

    `delete` is the propagation policy; `look` are uids to look at next; `forget` says that the object is not there; `wait` asks
    to look again in so many seconds.
    """

    resource: View | None
    meta: ObjectMeta | None
    uid: str
    forget: bool = False
    orphan: tuple[Dependent, ...] = ()
    finalizer: str = ""
    release: tuple[str, ...] = ()
    unblock: bool = False
    delete: str = ""
    look: tuple[str, ...] = ()
    wait: float | None = None


UNKNOWN_KIND_SECONDS = 30.0


def diff(observed: Observed) -> Plan | None:
    """What to do about the object; None for nothing."""
    if observed.meta is None:
        return Plan(observed.resource, None, observed.uid, forget=True)
    if observed.orphaning:
        return _plan(observed, orphan=tuple(observed.dependents), finalizer=ORPHAN)
    if observed.foreground:
        return _foreground(observed)
    if observed.meta.deletion_timestamp or not observed.owners:
        return None
    return _by_owners(observed)


def _plan(observed: Observed, **what: Any) -> Plan:
    return Plan(observed.resource, observed.meta, observed.uid, **what)


def _foreground(observed: Observed) -> Plan | None:
    """It goes when no blocking dependent is left; until then those are looked at."""
    blocking = [dependent for dependent in observed.dependents if dependent.blocks]
    if not blocking:
        return _plan(observed, finalizer=FOREGROUND)
    look = tuple(dependent.uid for dependent in blocking if not dependent.deleting_dependents)
    return _plan(observed, look=look) if look else None


def _by_owners(observed: Observed) -> Plan | None:
    states = {state for _, state in observed.owners}
    if Owner.IMPOSSIBLE in states:
        return None
    if Owner.UNKNOWN in states:
        return _plan(observed, wait=UNKNOWN_KIND_SECONDS)  # it may be served later: never delete on a guess
    if Owner.SOLID in states:
        loose = tuple(ref.uid for ref, state in observed.owners if state is not Owner.SOLID)
        return _plan(observed, release=loose) if loose else None
    if Owner.WAITING in states and observed.dependents:
        # A dependent that waits itself closes a circle: it would block its own deletion for ever.
        circle = any(dependent.deleting_dependents for dependent in observed.dependents)
        return _plan(observed, unblock=circle, delete="Foreground")
    return _plan(observed, delete=_policy(observed.meta))


def _policy(meta: ObjectMeta | None) -> str:
    """A wish that is already written down in the finalizers is kept."""
    finalizers = meta.finalizers if meta is not None else ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
