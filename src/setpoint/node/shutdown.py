"""An orderly end of the agent: containers end, within a time, and their supervisors with them."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.node.pod_worker.stopping import stop_signal
from setpoint.node.runtime import Runtime
from setpoint.node.worker import PodWorker

_LOOK = 0.02


async def stop_containers(runtime: Runtime, workers: Sequence[PodWorker], clock: Clock, seconds: float) -> None:
    """Stop signal to all, patience for `seconds`, then the end of every sandbox. The pods stay in the API, to be run again."""
    async with Tasks("stop pods") as tasks:
        for worker in workers:
            tasks.start(worker.uid, _stop(runtime, worker, clock, seconds))


async def _stop(runtime: Runtime, worker: PodWorker, clock: Clock, seconds: float) -> None:
    running = [track for track in worker.core.tracks if track.running]
    for track in running:
        await runtime.signal_container(worker.uid, track.id, stop_signal(track))
    until = clock.monotonic() + seconds
    while running and await runtime.pids(worker.uid) and clock.monotonic() < until:
        await clock.sleep(_LOOK)
    for track in running:
        await runtime.signal_container(worker.uid, track.id, int(signal.SIGKILL))
    await runtime.stop_sandbox(worker.uid, worker.directory)
