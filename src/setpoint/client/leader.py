"""Leader election by Lease, with client-go's algorithm and its promise.

At most one candidate *believes* itself leader at a time, as long as clocks run at about the same rate: no clock is compared
with another host's. A candidate watches the lease; if its holder has not renewed it for `lease_seconds` of the candidate's own
clock, it takes it. Because it watches, it does so at that very moment, and at once when the lease is given back (client-go asks
every few seconds instead, so that a dead leader is replaced up to nine seconds later). The holder renews every `retry_seconds`,
and stops leading when it could not for `renew_seconds`, which is less.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock, rfc3339_micro
from setpoint.kit.tasks import Tasks

LEASES: Resource[dict[str, Any]] = Resource("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True, type=dict)
JITTER = 1.2
log = logs.get_logger("client.leader")


class Timing(Struct, frozen=True):
    """Seconds; Kubernetes' defaults."""

    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0


DEFAULT_TIMING = Timing()


class LeadershipLost(Exception):
    """The lease could not be renewed in time; another may lead by now."""


class LeaderElection:
    """One candidate, `identity`, for the lease `namespace`/`name`."""

    def __init__(  # a lease has a place and a holder
        self,
        client: ClientProtocol,
        name: str,
        identity: str,
        clock: Clock,
        *,
        namespace: str = "kube-system",
        timing: Timing = DEFAULT_TIMING,
        rng: random.Random | None = None,
    ) -> None:
        self.name = name
        self.identity = identity
        self._client = client
        self._clock = clock
        self._namespace = namespace
        self._timing = timing
        self._rng = rng or random.Random()  # noqa: S311  # spreads load; keeps no secret
        self._lease: Mapping[str, Any] | None = None
        self._seen_at = 0.0
        self._free = asyncio.Event()

    @property
    def is_leader(self) -> bool:
        """Whether the lease, as last seen, is ours."""
        return self._holder == self.identity

    @property
    def _spec(self) -> Mapping[str, Any]:
        return (self._lease or {}).get("spec") or {}

    @property
    def _holder(self) -> str:
        return str(self._spec.get("holderIdentity") or "")

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Wait to become leader, then run `lead`; returns when it does.

        Raises LeadershipLost after cancelling `lead`. Cancelled, or when `lead` is over, it gives the lease back.
        """
        await self.acquire()
        log.info("leads", lease=self.name, identity=self.identity)
        try:
            await self._lead(lead)
        finally:
            if self.is_leader:  # no longer than others would wait for it anyway: who ends must not hang
                await self._bounded(self._release, self._timing.retry_seconds)

    async def _lead(self, lead: Callable[[], Awaitable[None]]) -> None:
        lost = False

        async def keep() -> None:
            nonlocal lost
            await self._renew()
            lost = True
            tasks.stop()

        async def work() -> None:
            await lead()
            tasks.stop()

        async with Tasks(f"leader {self.name}") as tasks:
            tasks.start("renew", keep())
            tasks.start("lead", work())
        if lost:
            raise LeadershipLost(self.name)

    async def acquire(self) -> None:
        """Return once the lease is ours."""
        if await self._try():
            return
        async with Tasks(f"candidate {self.name}") as tasks:
            tasks.loop("watch", self._follow, clock=self._clock, pause=self._timing.retry_seconds)
            while True:
                await self._clock.wait(self._free, self._pause())
                self._free.clear()
                if await self._try():
                    break
            tasks.stop()

    def _pause(self) -> float:
        """Seconds until the next try: a while, but no longer than until the lease may be taken."""
        pause = self._timing.retry_seconds * (1 + JITTER * self._rng.random())
        left = self._ends() - self._clock.monotonic()
        return min(pause, left) if left > 0 else pause

    async def _follow(self) -> None:
        """See every renewal as it happens, and the end of the holder's term."""
        while True:
            selector = f"metadata.name={self.name}"
            watch = self._client.watch(LEASES, self._namespace, resource_version="", field_selector=selector, bookmarks=False)
            with contextlib.suppress(StatusError, TransportError):
                async with contextlib.aclosing(watch) as batches:
                    async for events in batches:
                        for event in events:
                            self._seen(event.object if event.type in ("ADDED", "MODIFIED") else None)
            await self._clock.sleep(self._timing.retry_seconds)

    def _seen(self, lease: Mapping[str, Any] | None) -> None:
        if lease is None or (lease.get("spec") or {}) != self._spec:
            self._seen_at = self._clock.monotonic()
        self._lease = lease
        if not self._holder:
            self._free.set()

    async def _renew(self) -> None:
        """Return when the lease could not be renewed in time."""
        deadline = self._clock.monotonic() + self._timing.renew_seconds
        while True:
            await self._clock.sleep(self._timing.retry_seconds)
            if await self._bounded(self._try, deadline - self._clock.monotonic()):
                deadline = self._clock.monotonic() + self._timing.renew_seconds
            elif self._clock.monotonic() >= deadline or not self.is_leader:
                return

    async def _bounded(self, work: Callable[[], Awaitable[bool]], seconds: float) -> bool:
        """What `work` says, or False when the server did not answer in time: then it may have been done or not."""
        ended = asyncio.Event()
        done = False

        async def attempt() -> None:
            nonlocal done
            done = await work()
            ended.set()

        async with Tasks(f"lease {self.name}") as tasks:
            tasks.start("attempt", attempt())
            if not await self._clock.wait(ended, max(seconds, 0.001)):
                tasks.stop()
        return done

    async def _try(self) -> bool:
        """Take or renew the lease if we may; False if another holds it or the server did not agree."""
        try:
            if not self.is_leader:
                await self._observe()
                if not self._may_take():
                    return False
            await self._write()
        except StatusError as error:
            log.debug("lease not written", lease=self.name, error=error.message)
            if error.code in {404, 409}:
                with contextlib.suppress(StatusError, TransportError):
                    await self._observe()
            return False
        except TransportError as error:
            log.debug("server not reached", lease=self.name, error=str(error))
            return False
        return True

    async def _observe(self) -> None:
        try:
            lease = await self._client.get(LEASES, self.name, self._namespace)
        except StatusError as error:
            if error.code != 404:
                raise
            self._lease = None
            return
        if self._lease is None or (lease.get("spec") or {}) != self._spec:
            self._seen_at = self._clock.monotonic()
        self._lease = lease

    def _ends(self) -> float:
        """When the lease may be taken, by our clock, if nothing is seen of its holder until then."""
        return self._seen_at + float(self._spec.get("leaseDurationSeconds") or 0)

    def _may_take(self) -> bool:
        return not self._holder or self._ends() <= self._clock.monotonic()

    async def _write(self) -> None:
        now = rfc3339_micro(self._clock.now())
        transitions = int(self._spec.get("leaseTransitions") or 0)
        spec = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._timing.lease_seconds),
            "acquireTime": self._spec.get("acquireTime") if self.is_leader else now,
            "renewTime": now,
            "leaseTransitions": transitions if self.is_leader or self._lease is None else transitions + 1,
        }
        await self._put(spec)

    async def _put(self, spec: Mapping[str, Any]) -> None:
        if self._lease is None:
            meta = {"name": self.name, "namespace": self._namespace}
            self._lease = await self._client.create(LEASES, {"metadata": meta, "spec": spec}, self._namespace)
        else:
            body = {**self._lease, "spec": {**self._spec, **spec}}
            self._lease = await self._client.update(LEASES, body, self._namespace)
        self._seen_at = self._clock.monotonic()

    async def _release(self) -> bool:
        """Let others take the lease at once, if the server agrees."""
        now = rfc3339_micro(self._clock.now())
        with contextlib.suppress(StatusError, TransportError):
            await self._put({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now})
            return True
        return False
