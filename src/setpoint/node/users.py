"""Who a container runs as: what its securityContext says, or else the pod's own user."""

from __future__ import annotations

import os
from collections.abc import Sequence

from setpoint.api.types.core_v1 import Container, Pod
from setpoint.node.environment import config_error


def chosen_user(pod: Pod, container: Container) -> int | None:
    """`runAsUser`, the container's own before the pod's. A privileged container that chooses none is root: it asks for the
    host.
    """
    own, whole = container.security_context, pod.spec.security_context
    privileged = 0 if own is not None and own.privileged and os.geteuid() == 0 else None
    return _first(own.run_as_user if own else None, whole.run_as_user if whole else None, privileged)


def user_of(pod: Pod, container: Container, of_pod: int | None) -> tuple[int | None, int | None, Sequence[int]]:
    """The user, group and further groups to run as; None is the agent's own, `of_pod` the pod's. Raises ContainerError."""
    own, whole = container.security_context, pod.spec.security_context
    chosen = chosen_user(pod, container)
    uid = _first(chosen, of_pod)
    gid = _first(own.run_as_group if own else None, whole.run_as_group if whole else None)
    must_not_be_root = (
        (own.run_as_non_root if own else None)
        if own and own.run_as_non_root is not None
        else (whole.run_as_non_root if whole else None)
    )
    runs_as = uid if uid is not None else os.geteuid()
    where = f'(pod: "{pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})", container: {container.name})'
    if must_not_be_root and runs_as == 0:
        what = (
            "container's runAsUser breaks non-root policy"
            if chosen == 0
            else "container has runAsNonRoot and image will run as root"
        )
        raise config_error(f"{what} {where}")
    groups = [*(whole.supplemental_groups if whole else ())]
    if whole is not None and whole.fs_group is not None:
        groups.append(whole.fs_group)
    if uid is not None and gid is None and os.geteuid() == 0:
        gid = 0 if chosen is not None else uid
    return uid, gid, groups


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
