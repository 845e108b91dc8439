"""How late the event loop is: the time between a timer's due moment and its run. An alarm when it is too late.

No slice of work may hold the loop for more than a few milliseconds; this is how we notice that one does.
"""

from __future__ import annotations

import asyncio
import time

from setpoint.kit import logs, metrics

log = logs.get_logger("kit.looplag")
LAG = metrics.histogram("setpoint_loop_lag_seconds", "Lateness of the event loop's timers.").labels()


async def watch(*, period: float = 0.5, alarm: float = 0.25) -> None:
    """Measure for ever, every `period` seconds; warn when the loop is more than `alarm` seconds late."""
    while True:
        due = time.monotonic() + period
        await asyncio.sleep(period)
        lag = max(0.0, time.monotonic() - due)
        LAG.observe(lag)
        if lag > alarm:
            log.warning("the event loop was held", seconds=round(lag, 3))
