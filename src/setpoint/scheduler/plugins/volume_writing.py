"""Writes down which volume a claim gets, or for which node one is to be made, and waits until the claims are bound."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, PersistentVolume, PersistentVolumeClaim
from setpoint.client.transport import TransportError
from setpoint.scheduler.framework import Handle
from setpoint.scheduler.plugins.volume_claims import BOUND_BY_CONTROLLER, SELECTED_NODE, Volumes, is_bound
from setpoint.scheduler.status import Status, failed

Bindings = Sequence[tuple[PersistentVolumeClaim, PersistentVolume]]


class VolumeWriter:
    """Cancelled, it leaves written what it wrote: the next scheduler finds the choice made."""

    def __init__(self, handle: Handle, volumes: Volumes, timeout: float) -> None:
        self._client = handle.client
        self._clock = handle.clock
        self._volumes = volumes
        self._timeout = timeout
        self._waiting: set[asyncio.Event] = set()
        handle.listers.on_change(PERSISTENTVOLUMECLAIMS, self._claims_changed)

    def _claims_changed(self) -> None:
        for event in self._waiting:
            event.set()

    async def bind(self, bindings: Bindings, provisioned: Sequence[PersistentVolumeClaim], node: str) -> Status | None:
        """None when all claims are bound."""
        try:
            for claim, volume in bindings:
                await self._reserve(claim, volume)
            for claim in provisioned:
                await self._select(claim, node)
        except (StatusError, TransportError) as error:
            return failed(str(error))
        return await self._until_bound([*map(_key, (claim for claim, _ in bindings)), *map(_key, provisioned)], provisioned, node)

    async def _reserve(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        meta, reserved = claim.metadata, volume.spec.claim_ref
        if reserved is not None and reserved.uid == meta.uid:
            return
        ref = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": meta.name,
            "namespace": meta.namespace,
            "resourceVersion": meta.resource_version,
            "uid": meta.uid,
        }
        patch = {
            # The version makes the patch fail if the volume went to another claim meanwhile.
            "metadata": {"resourceVersion": volume.metadata.resource_version, "annotations": {BOUND_BY_CONTROLLER: "yes"}},
            "spec": {"claimRef": ref},
        }
        await self._client.patch(PERSISTENTVOLUMES, volume.metadata.name, patch)

    async def _select(self, claim: PersistentVolumeClaim, node: str) -> None:
        meta = claim.metadata
        if meta.annotations.get(SELECTED_NODE) != node:
            patch = {"metadata": {"uid": meta.uid, "annotations": {SELECTED_NODE: node}}}
            await self._client.patch(PERSISTENTVOLUMECLAIMS, meta.name, patch, meta.namespace)

    async def _until_bound(self, keys: Sequence[str], provisioned: Sequence[PersistentVolumeClaim], node: str) -> Status | None:
        deadline = self._clock.monotonic() + self._timeout
        changed = asyncio.Event()
        self._waiting.add(changed)
        chosen: set[str] = set()  # the claims that were seen with our choice
        try:
            while not all((claim := self._volumes.claims.get(key)) is not None and is_bound(claim) for key in keys):
                for claim in provisioned:
                    if self._is_given_up(claim, node, chosen):
                        return failed(f'binding volumes: provisioning failed for PVC "{claim.metadata.name}"')
                changed.clear()
                if not await self._clock.wait(changed, max(deadline - self._clock.monotonic(), 0.001)):
                    return failed("binding volumes: context deadline exceeded")
        finally:
            self._waiting.discard(changed)
        return None

    def _is_given_up(self, claim: PersistentVolumeClaim, node: str, chosen: set[str]) -> bool:
        """A provisioner that cannot make the volume takes the chosen node away: the pod has to look for another."""
        key = _key(claim)
        known = self._volumes.claims.get(key)
        if known is None or is_bound(known):
            return False
        if known.metadata.annotations.get(SELECTED_NODE) == node:
            chosen.add(key)
            return False
        return key in chosen  # else the choice is not seen yet


def _key(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"
