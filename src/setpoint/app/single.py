"""`setpoint up` in one process: API server, controllers, scheduler and node agents on one loop, started and stopped in order."""

from __future__ import annotations

import asyncio
import gc
import time

from setpoint.app.api_server import ApiServer
from setpoint.app.options import Options
from setpoint.app.say import say
from setpoint.kit import looplag
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks


async def run_single(options: Options, started_at: float, stop: asyncio.Event) -> None:
    """Run until `stop` is set; raises StartError."""
    clock = RealClock()
    server = ApiServer(options, clock)
    async with Tasks("setpoint") as tasks:
        tasks.start("loop lag", looplag.watch())
        try:
            await server.start()
            gc.collect()
            gc.freeze()
            say(f"kubeconfig: {options.kubeconfig or server.data.admin_kubeconfig}")
            say(f"ready in {time.time() - started_at:.2f} s  {server.url}")
            await stop.wait()
        finally:
            await server.stop()
            tasks.stop()
