"""Encryption at rest as options ask for it, and its file's changes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.app.options import Encryption, StartError
from setpoint.kit import logs, metrics
from setpoint.kit.clock import Clock
from setpoint.storage.encryption.values import Values

if TYPE_CHECKING:
    from setpoint.storage.encryption.configuration import Rule

log = logs.get_logger("app.encryption")

_LOOK_SECONDS = 5.0
_PRIME_SECONDS = 10.0  # in which key managers must answer
#: the name of the health check, as Kubernetes has it where there are key managers of version 2, or changes are followed
HEALTH = "kms-providers"
RELOADS = metrics.counter(
    "apiserver_encryption_config_controller_automatic_reloads_total", "Changes of the configuration, taken or not.", ("status",)
)


def values(chosen: Encryption) -> Values:
    """What is sealed in the store, and how; raises StartError for a file that cannot be used."""
    if not chosen.config:
        return Values()
    try:
        return Values(_read(chosen))
    except (OSError, ValueError) as error:
        raise StartError(f"encryption configuration {chosen.config}: {_reason(error)}") from error


async def prime(chosen: Encryption, sealed: Values, clock: Clock) -> None:
    """Get a key from every key manager; raises StartError where one does not give it."""
    try:
        await sealed.prime(clock, _PRIME_SECONDS)
    except ValueError as error:
        raise StartError(f"encryption configuration {chosen.config}: {error}") from error


async def follow(chosen: Encryption, sealed: Values, clock: Clock) -> None:
    """Take the file's changes, for ever; one that cannot be used leaves everything as it is."""
    before = await asyncio.to_thread(_read_text, chosen)
    while True:
        await clock.sleep(_LOOK_SECONDS)
        text = await asyncio.to_thread(_read_text, chosen)
        if text == before:
            continue
        before = text
        try:
            await sealed.take(_read(chosen), clock, _PRIME_SECONDS)
        except (OSError, ValueError) as error:
            RELOADS.labels("failure").inc()
            log.warning("encryption configuration not taken", file=chosen.config, why=_reason(error))
        else:
            RELOADS.labels("success").inc()
            log.warning("encryption configuration taken", file=chosen.config)


def _read(chosen: Encryption) -> Sequence[Rule]:
    from setpoint.storage.encryption import configuration

    return configuration.read(Path(chosen.config))


def _read_text(chosen: Encryption) -> bytes | None:
    try:
        return Path(chosen.config).read_bytes()
    except OSError:
        return None


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
