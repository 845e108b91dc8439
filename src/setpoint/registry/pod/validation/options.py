"""What validation tolerates, depending on what is already stored and on where the pod spec stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Options(Struct, frozen=True):
    """The looser rules hold where the old object already breaks the strict one (ratcheting).

    `pod_name` is set for real pods with a name: the names of their generated volume claims are checked too.
    `is_static` is set for mirrors of static pods, which cannot claim resources.
    """

    is_pod: bool = False
    pod_name: str = ""
    is_static: bool = False
    allow_invalid_selector_values: bool = False
    allow_invalid_spread_selector: bool = False
    allow_invalid_required_node_affinity: bool = False
    allow_host_sysctls: bool = False
    allow_invalid_deletion_cost: bool = False
    any_selinux_change_policy: bool = False


class PodScope(Struct, frozen=True):
    """What a container's validation must know of its pod."""

    volumes: Mapping[str, Mapping[str, Any]]
    claim_names: frozenset[str]
    grace_period: int | None
    restart_policy: str
    host_users: bool
    options: Options
