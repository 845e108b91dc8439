"""The file of an EncryptionConfiguration: read at the start, and again when it has changed."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from setpoint.app import encryption
from setpoint.app.options import Encryption, StartError
from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.encryption.values import Values

KEYS = {name: base64.b64encode(os.urandom(32)).decode() for name in ("old", "new")}


def write(file: Path, *names: str, provider: str = "secretbox") -> Encryption:
    listed = "".join(f"\n      - {{name: {name}, secret: {KEYS[name]}}}" for name in names)
    providers = f"  - {provider}:\n      keys:{listed}\n"
    head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
    file.write_text(f"{head}resources:\n- resources: [secrets]\n  providers:\n{providers}")
    return Encryption(str(file), reload=True)


def key_of(values: Values) -> str:
    return values.seal("secrets/d/a", b"x", b"").split(b":")[4].decode()


async def test_changes_are_taken_and_what_cannot_be_used_is_not(tmp_path: Path) -> None:
    file, clock = tmp_path / "encryption.yaml", VirtualClock()
    chosen = write(file, "old")
    values = encryption.values(chosen)
    await encryption.prime(chosen, values, clock)

    async def later() -> str:
        for _ in range(20):
            await clock.advance(1)
            await asyncio.sleep(0.005)  # the file is read in a thread
        return key_of(values)

    async with Tasks("test") as tasks:
        tasks.start("follow", encryption.follow(chosen, values, clock))
        await asyncio.sleep(0.05)
        assert key_of(values) == "old"
        write(file, "new", "old")
        assert await later() == "new"
        write(file, "old")  # an object is sealed by the new key
        assert await later() == "new"
        file.write_text("kind: ConfigMap")
        assert await later() == "new"
        values.forget("secrets/d/a")
        write(file, "old")
        assert await later() == "old"
        tasks.stop()
    assert encryption.RELOADS.labels("success").value >= 2
    assert encryption.RELOADS.labels("failure").value >= 2
    await values.close()


def test_a_file_that_cannot_be_used_ends_the_start(tmp_path: Path) -> None:
    file = tmp_path / "encryption.yaml"
    with pytest.raises(StartError, match="No such file"):
        encryption.values(Encryption(str(file)))
    with pytest.raises(StartError, match=r"at least one keys is required"):
        encryption.values(write(file))


async def test_a_key_manager_that_does_not_answer_ends_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "_PRIME_SECONDS", 0)
    file = tmp_path / "encryption.yaml"
    chosen = write(file, "old")
    kms = f"  - kms: {{apiVersion: v2, name: k, timeout: 1s, endpoint: 'unix://{tmp_path}/none.sock'}}\n"
    file.write_text(file.read_text().replace("providers:\n", f"providers:\n{kms}"))
    values = encryption.values(chosen)
    with pytest.raises(
        StartError, match=r"status section of the healthz check for KMS Provider k, error: rpc error: code = Unavailable"
    ):
        await encryption.prime(chosen, values, VirtualClock())
    await values.close()
