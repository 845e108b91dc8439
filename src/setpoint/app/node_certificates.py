"""The certificates of a machine that joined: asked for by CertificateSigningRequests, kept, and asked for anew before they end.

As kubelet does: the new one is asked for when 70 to 90 % of the old one's life are over, by the old one, with a new key.
Source: client-go `util/certificate/certificate_manager.go`.
"""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.certificates_v1 import CERTIFICATESIGNINGREQUESTS
from setpoint.apiserver.pki import KeyPair, Subject, write_private
from setpoint.app.options import StartError
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock

log = logs.get_logger("app.node")

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
_POLL, _NOTICE = 0.1, 10.0  # seconds between two looks at a request, and after which it is said that it waits for somebody
_AGAIN_AFTER = 60.0
_LONGEST_SLEEP = 24 * 3600.0  # a machine may sleep: its clock is looked at again


class Kind(Struct, frozen=True):
    """What a certificate is for: who signs it, for which usages, and for how many seconds a request may wait to be signed."""

    signer: str
    usages: tuple[str, ...]
    patience: float = 30.0


CLIENT = Kind(CLIENT_SIGNER, ("digital signature", "client auth"))
SERVING = Kind(SERVING_SIGNER, ("digital signature", "server auth"), patience=900.0)  # a person may have to approve it


class NodeCertificate:
    """One certificate, kept at `<place>.crt` and `<place>.key`."""

    def __init__(self, place: Path, kind: Kind, subject: Subject, clock: Clock, chance: random.Random | None = None) -> None:
        self.pair = KeyPair(place.with_suffix(".crt"), place.with_suffix(".key"))
        self._kind = kind
        self._subject = subject
        self._clock = clock
        self._chance = chance or random.Random()  # noqa: S311  spreads load, guards nothing

    @property
    def usable(self) -> bool:
        """Whether there is one whose time is not over."""
        life = self._life()
        return life is not None and self._clock.now() < life[1]

    def _life(self) -> tuple[float, float] | None:
        """When the certificate that is kept begins and ends."""
        from setpoint.apiserver.signing import lifetime

        try:
            return lifetime(self.pair.certificate.read_bytes()) if self.pair.key.exists() else None
        except (OSError, ValueError):
            return None

    async def obtain(self, client: ClientProtocol, stop: asyncio.Event | None = None) -> None:
        """Ask for a certificate, wait for it and keep it.

        Raises StartError when it is refused, or nobody signs it, or `stop` is set before.
        """
        from setpoint.apiserver.signing import new_request

        request, key = new_request(self._subject)
        body = {
            "metadata": {"generateName": "node-csr-"},
            "spec": {
                "request": base64.b64encode(request).decode(),
                "signerName": self._kind.signer,
                "usages": list(self._kind.usages),
            },
        }
        name = (await client.create(CERTIFICATESIGNINGREQUESTS, body)).metadata.name
        certificate = await self._signed(client, name, stop or asyncio.Event())
        write_private(self.pair.key, key)
        write_private(self.pair.certificate, certificate)

    async def _signed(self, client: ClientProtocol, name: str, stop: asyncio.Event) -> bytes:
        begun, told = self._clock.monotonic(), False
        while (waited := self._clock.monotonic() - begun) < self._kind.patience and not stop.is_set():
            status = (await client.get(CERTIFICATESIGNINGREQUESTS, name)).status
            if status.certificate:
                return base64.b64decode(status.certificate)
            if any(condition.type in ("Denied", "Failed") for condition in status.conditions):
                break
            if waited >= _NOTICE and not told:
                told = True
                log.warning("a certificate waits for somebody's approval", command=f"kubectl certificate approve {name}")
            await self._clock.sleep(_POLL if waited < _NOTICE else 10 * _POLL)
        raise StartError(f"the certificate request {name} was not signed: see `kubectl describe csr {name}`")

    async def rotate(self, client: Callable[[], ClientProtocol], renewed: Callable[[], Awaitable[None]]) -> None:
        """Ask for a new certificate in time, for ever; `renewed` is called when it is in its place."""
        while True:
            await self._until_due()
            try:
                await self.obtain(client())
            except (StartError, StatusError, TransportError) as error:
                log.warning("a certificate could not be renewed yet", certificate=self.pair.certificate.name, error=str(error))
                await self._clock.sleep(_AGAIN_AFTER)
                continue
            log.info("a certificate was renewed", certificate=self.pair.certificate.name)
            await renewed()

    async def _until_due(self) -> None:
        life: tuple[float, float] | None = await asyncio.to_thread(self._life)
        begin, end = life or (0.0, 0.0)
        due = begin + (end - begin) * (0.7 + 0.2 * self._chance.random())
        while (left := due - self._clock.now()) > 0:
            await self._clock.sleep(min(left, _LONGEST_SLEEP))
