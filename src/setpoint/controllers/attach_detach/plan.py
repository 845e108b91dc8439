"""What is to be attached to a node, and what no longer. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct

from setpoint.api.types.core_v1 import Node, PersistentVolume, Pod
from setpoint.api.types.storage_v1 import VolumeAttachment
from setpoint.controllers.node_lifecycle.taints import OUT_OF_SERVICE

MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach"
MAX_WAIT = 360.0
"""Seconds after which a volume is taken from a node that is not well, though its agent never let go of it."""
_ENDED = {"Succeeded", "Failed"}
_EXCLUSIVE = {"ReadWriteOnce", "ReadWriteOncePod"}
_MULTI = "Volume is already exclusively attached to one node and can't be attached to another"


class Wanted(Struct, frozen=True):
    """A volume of a driver that attaches, and the pods on the node that use it.

    `elsewhere`: another node has it, for the pods of the names `others`.
    """

    volume: PersistentVolume
    pods: tuple[Pod, ...]
    elsewhere: bool = False
    others: tuple[str, ...] = ()


class Held(Struct, frozen=True):
    """An attachment to the node, and how the node calls its volume."""

    attachment: VolumeAttachment
    name: str


class Observed(Struct, frozen=True):
    """A node (None: it is gone), what its pods use and what it has, by names of attachments.

    `told` are the events of before, `unwanted` since when nobody uses what the node has, by the same.
    """

    name: str
    node: Node | None
    wanted: Mapping[str, Wanted]
    held: Mapping[str, Held]
    told: Mapping[str, str] = {}
    unwanted: Mapping[str, float] = {}
    now: float = 0.0


class Plan(Struct, frozen=True):
    """Attachments to make and to delete; what the node is to report as attached (None: it does).

    `events` are (pod, type, reason, message), `told` the reasons by names of attachments; `unwanted` as in Observed.
    `look_again`: in how many seconds what is unwanted may be taken away by force.
    """

    node: str
    attach: Mapping[str, Wanted]
    detach: tuple[VolumeAttachment, ...]
    report: tuple[str, ...] | None
    events: tuple[tuple[Pod, str, str, str], ...]
    told: Mapping[str, str]
    unwanted: Mapping[str, float]
    look_again: float | None = None


def attachment_name(volume: PersistentVolume, node: str) -> str:
    """As the CSI plugin names it: a hash of handle, driver and node."""
    csi = volume.spec.csi
    text = f"{csi.volume_handle}{csi.driver}{node}" if csi is not None else ""
    return f"csi-{hashlib.sha256(text.encode()).hexdigest()}"


def unique_name(volume: PersistentVolume) -> str:
    """How nodes call it."""
    csi = volume.spec.csi
    return f"kubernetes.io/csi/{csi.driver}^{csi.volume_handle}" if csi is not None else ""


def is_over(pod: Pod) -> bool:
    """None of its containers runs any more, or will."""
    status = pod.status
    running = any(each.state is not None and each.state.running is not None for each in status.container_statuses)
    return status.phase in _ENDED or (bool(pod.metadata.deletion_timestamp) and not running)


def is_exclusive(volume: PersistentVolume) -> bool:
    modes = set(volume.spec.access_modes)
    return bool(modes) and modes <= _EXCLUSIVE


def diff(observed: Observed) -> Plan | None:
    """Attach and detach; None for nothing."""
    unwanted = {name: observed.unwanted.get(name, observed.now) for name in observed.held if name not in observed.wanted}
    attach = {name: each for name, each in observed.wanted.items() if name not in observed.held and not each.elsewhere}
    detach = tuple(each.attachment for name, each in observed.held.items() if _may_go(observed, name, unwanted))
    going = {each.metadata.name for each in detach}
    attached = [each.name for name, each in observed.held.items() if each.attachment.status.attached and name not in going]
    report = _report(observed.node, attached)
    told = {name: reason for name in observed.wanted if (reason := _outcome(observed, name))}
    events = [
        (pod, *_event(told[name], observed.wanted[name]))
        for name in told
        if observed.told.get(name) != told[name]
        for pod in observed.wanted[name].pods
    ]
    left = [since + MAX_WAIT - observed.now for name, since in unwanted.items() if name not in going]
    again = min((each for each in left if each > 0), default=None)
    plan = Plan(observed.name, attach, detach, report, tuple(events), told, unwanted, again)
    noted = told != observed.told or unwanted != observed.unwanted
    return plan if attach or detach or report is not None or noted else None


def _report(node: Node | None, attached: list[str]) -> tuple[str, ...] | None:
    if node is None or sorted(attached) == sorted(each.name for each in node.status.volumes_attached):
        return None
    return tuple(sorted(attached))


def _may_go(observed: Observed, name: str, unwanted: Mapping[str, float]) -> bool:
    """Nobody wants it, and the node's agent has let go of it, or never will."""
    held, node = observed.held[name], observed.node
    if name not in unwanted or held.attachment.metadata.deletion_timestamp:
        return False
    if node is not None and held.name not in node.status.volumes_in_use:
        return True
    return is_out_of_service(node) or (not is_well(node) and observed.now >= unwanted[name] + MAX_WAIT)


def is_out_of_service(node: Node | None) -> bool:
    """An administrator vouches that nothing runs there (KEP-2268)."""
    return node is not None and any(each.key == OUT_OF_SERVICE for each in node.spec.taints)


def is_well(node: Node | None) -> bool:
    return node is not None and any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


def _outcome(observed: Observed, name: str) -> str:
    held = observed.held.get(name)
    if held is not None:
        return "SuccessfulAttachVolume" if held.attachment.status.attached else ""
    return "FailedAttachVolume" if observed.wanted[name].elsewhere else ""


def _event(reason: str, wanted: Wanted) -> tuple[str, str, str]:
    volume = wanted.volume.metadata.name
    if reason == "SuccessfulAttachVolume":
        return "Normal", reason, f'AttachVolume.Attach succeeded for volume "{volume}" '
    why = f"Volume is already used by pod(s) {', '.join(wanted.others)}" if wanted.others else _MULTI
    return "Warning", reason, f'Multi-Attach error for volume "{volume}" {why}'
