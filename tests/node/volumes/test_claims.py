"""From a pod's claim to a directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import PersistentVolume, PersistentVolumeClaim, Pod, Volume
from setpoint.node.volumes.claims import ClaimedVolumes, claim_of
from setpoint.node.volumes.payload import VolumeError

POD = convert({"metadata": {"name": "p", "namespace": "n", "uid": "u"}}, Pod)


class Objects:
    """What an API server would answer."""

    def __init__(self, claim: Any = None, volume: Any = None) -> None:
        self.claim = None if claim is None else convert(claim, PersistentVolumeClaim)
        self.volume = None if volume is None else convert(volume, PersistentVolume)
        self.reads = 0

    async def read(self, resource: Any, _name: str, _namespace: str = "") -> Any:
        self.reads += 1
        return self.claim if resource.plural == "persistentvolumeclaims" else self.volume


def bound(path: Path, *, uid: str = "c", **source: Any) -> Objects:
    claim = {"metadata": {"name": "c", "uid": "c"}, "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}}
    kind = source or {"hostPath": {"path": str(path), "type": "DirectoryOrCreate"}}
    return Objects(claim, {"metadata": {"name": "v"}, "spec": {"claimRef": {"uid": uid}, **kind}})


def claimed(objects: Objects) -> ClaimedVolumes:
    return ClaimedVolumes(objects)  # type: ignore[arg-type]  # a double


def test_the_name_of_the_claim() -> None:
    assert claim_of(POD, convert({"name": "d", "persistentVolumeClaim": {"claimName": "c"}}, Volume)) == "c"
    assert claim_of(POD, convert({"name": "d", "ephemeral": {}}, Volume)) == "p-d"
    assert claim_of(POD, convert({"name": "d", "emptyDir": {}}, Volume)) == ""


async def test_a_bound_claim_is_looked_up_once(tmp_path: Path) -> None:
    objects = bound(tmp_path / "v")
    volumes = claimed(objects)
    assert await volumes.path(POD, "c") == str(tmp_path / "v")
    assert (tmp_path / "v").is_dir()
    await volumes.path(POD, "c")
    assert objects.reads == 2
    volumes.forget("u")
    await volumes.path(POD, "c")
    assert objects.reads == 4


async def test_a_local_volume_must_be_there(tmp_path: Path) -> None:
    assert await claimed(bound(tmp_path, local={"path": str(tmp_path)})).path(POD, "c") == str(tmp_path)
    with pytest.raises(VolumeError, match="does not exist"):
        await claimed(bound(tmp_path, local={"path": str(tmp_path / "no")})).path(POD, "c")


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (Objects(), 'persistentvolumeclaims "c" not found'),
        (Objects({"spec": {}}), "error processing PVC n/c: PVC is not bound"),
        (Objects({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), "PVC is being deleted"),
        (bound(Path("/x"), uid="other"), 'PV "v" is not bound to this PVC'),
        (bound(Path("/x"), nfs={"server": "s", "path": "/"}), "no plugin for this kind of volume"),
    ],
)
async def test_what_cannot_be_used_is_told(objects: Objects, message: str) -> None:
    with pytest.raises(VolumeError, match=message):
        await claimed(objects).path(POD, "c")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_what_was_left_in_a_volume_belongs_to_the_next_pod(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("x")
    (folder / "link").symlink_to("/etc/hostname")
    objects = bound(folder)
    made = convert(
        {
            "metadata": {"name": "v", "uid": "v", "annotations": {"pv.kubernetes.io/provisioned-by": "setpoint/host-path"}},
            "spec": {"claimRef": {"uid": "c"}, "hostPath": {"path": str(folder)}},
        },
        PersistentVolume,
    )
    await claimed(objects).path(POD, "c", 4711)
    assert (folder / "sub/file").stat().st_uid == 0  # not made for the claim
    objects.volume = made
    volumes = claimed(objects)
    await volumes.path(POD, "c", 4711)
    assert {path.lstat().st_uid for path in (folder, folder / "sub/file", folder / "link")} == {4711}
    other = convert({"metadata": {"name": "q", "namespace": "n", "uid": "w"}}, Pod)
    await volumes.path(other, "c", 4712)
    assert (folder / "sub/file").stat().st_uid == 4712
