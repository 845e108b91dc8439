"""Prepares and refreshes the volumes of pods, under each pod's directory: `volumes/<kind>/<name>`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from setpoint.api.types.core_v1 import CONFIGMAPS, SECRETS, Pod, ProjectedVolumeSource, Volume
from setpoint.node.downward import Surroundings
from setpoint.node.sources import Sources, SourceUnavailable
from setpoint.node.users import chosen_user
from setpoint.node.volumes import atomic, host_path, payload
from setpoint.node.volumes.atomic import NOBODYS, Owner
from setpoint.node.volumes.claims import ClaimedVolumes, claim_of
from setpoint.node.volumes.payload import DEFAULT_MODE, Payload, VolumeError
from setpoint.node.volumes.tokens import Tokens

_DEFAULT_TOKEN_SECONDS = 3600


class Volumes:
    """All volumes of the node's pods."""

    def __init__(self, sources: Sources, tokens: Tokens) -> None:
        self._sources = sources
        self._tokens = tokens
        self._claimed = ClaimedVolumes(sources)

    async def prepare(self, pod: Pod, directory: str, around: Surroundings) -> Mapping[str, str]:
        """Make or refresh every volume of the pod; the host's path by volume name. Raises VolumeError."""
        return {volume.name: await self._volume(pod, volume, directory, around) for volume in pod.spec.volumes}

    def forget(self, pod_uid: str) -> None:
        self._sources.release(pod_uid)
        self._tokens.forget(pod_uid)
        self._claimed.forget(pod_uid)

    def next_refresh(self, pod_uid: str) -> float | None:
        return self._tokens.next_refresh(pod_uid)

    async def _volume(self, pod: Pod, volume: Volume, directory: str, around: Surroundings) -> str:
        try:
            if volume.host_path is not None:
                return host_path.prepare(volume.host_path.path, volume.host_path.type or "")
            if volume.empty_dir is not None:
                return _empty(os.path.join(directory, "volumes", "empty-dir", volume.name), owner_of(pod, around))
            if claim := claim_of(pod, volume):
                made_up = around.user is not None and owner_of(pod, around).uid == around.user
                return await self._claimed.path(pod, claim, around.user if made_up else None)
            folder = os.path.join(directory, "volumes", "files", volume.name)
            try:
                files = await self._payload(pod, volume, around)
            except SourceUnavailable:
                if not atomic.written(folder):
                    raise
                return folder  # the API server is away: what was written before is as good as can be had
            await asyncio.get_running_loop().run_in_executor(None, atomic.write, folder, files, owner_of(pod, around))
            return folder
        except (VolumeError, SourceUnavailable, OSError, atomic.UnsafePath) as error:
            raise VolumeError(f'MountVolume.SetUp failed for volume "{volume.name}" : {error}') from error

    async def _payload(self, pod: Pod, volume: Volume, around: Surroundings) -> Payload:
        namespace, uid = pod.metadata.namespace, pod.metadata.uid
        if (config_map := volume.config_map) is not None:
            found = await self._sources.get(CONFIGMAPS, namespace, config_map.name, uid)
            mode, optional = _mode(config_map.default_mode), bool(config_map.optional)
            return payload.of_config_map(config_map.name, found, config_map.items, mode, optional=optional)
        if (secret := volume.secret) is not None:
            kept = await self._sources.get(SECRETS, namespace, secret.secret_name, uid)
            mode, optional = _mode(secret.default_mode), bool(secret.optional)
            return payload.of_secret(secret.secret_name, kept, secret.items, mode, optional=optional)
        if volume.downward_api is not None:
            return payload.of_downward(pod, volume.downward_api.items, _mode(volume.downward_api.default_mode), around)
        if volume.projected is not None:
            return await self._projected(pod, volume.projected, around)
        raise VolumeError("this node has no plugin for this kind of volume")

    async def _projected(self, pod: Pod, projected: ProjectedVolumeSource, around: Surroundings) -> Payload:
        namespace, uid, mode = pod.metadata.namespace, pod.metadata.uid, _mode(projected.default_mode)
        out: Payload = {}
        for source in projected.sources:
            if (config_map := source.config_map) is not None:
                found = await self._sources.get(CONFIGMAPS, namespace, config_map.name, uid)
                optional = bool(config_map.optional)
                out |= payload.of_config_map(config_map.name, found, config_map.items, mode, optional=optional)
            elif (secret := source.secret) is not None:
                kept = await self._sources.get(SECRETS, namespace, secret.name, uid)
                out |= payload.of_secret(secret.name, kept, secret.items, mode, optional=bool(secret.optional))
            elif source.downward_api is not None:
                out |= payload.of_downward(pod, source.downward_api.items, mode, around)
            elif (token := source.service_account_token) is not None:
                text = await self._tokens.get(pod, token.audience, token.expiration_seconds or _DEFAULT_TOKEN_SECONDS)
                out[token.path] = atomic.File(text.encode(), mode)
            else:
                raise VolumeError("this node has no plugin for one of the projected sources")
        return out


def _mode(mode: int | None) -> int:
    return mode if mode is not None else DEFAULT_MODE


def _empty(folder: str, owner: Owner) -> str:
    if not os.path.isdir(folder):
        os.makedirs(folder)
        owner.give(folder)
        os.chmod(folder, 0o2777 if owner.shared else 0o777)  # any user of the pod's may write, as with kubelet
    return folder


def owner_of(pod: Pod, around: Surroundings) -> Owner:
    """Whose the pod's files are: its containers' one user, or else the pod's own; `fsGroup`'s, where it has one."""
    if os.geteuid() != 0:
        return NOBODYS
    users = {chosen_user(pod, container) for container in (*pod.spec.init_containers, *pod.spec.containers)}
    only = users.pop() if len(users) == 1 else None
    uid = only if only is not None else around.user
    context = pod.spec.security_context
    group = context.fs_group if context is not None else None
    return Owner(uid if uid is not None else -1, group if group is not None else -1)
