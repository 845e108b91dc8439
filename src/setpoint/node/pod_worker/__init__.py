"""The decisions for one pod, without clock or I/O: `PodCore.handle(event, now) -> commands`.

The shell (`node/worker.py`) carries commands out and brings what came of them back as events. The core may be asked anything at
any time; it never waits. Long delays are `WakeAt` commands, so tests of five minutes of backoff take no time.
"""
