"""postStart and preStop hooks."""

from __future__ import annotations

from setpoint.api.types.core_v1 import Container, LifecycleHandler
from setpoint.kit.clock import Clock
from setpoint.node.handlers import Http, run_command
from setpoint.node.pod_worker.messages import POST_START, RunHook
from setpoint.node.runtime import Runtime


async def run(
    command: RunHook, container: Container, *, pod_uid: str, address: str, runtime: Runtime, http: Http, clock: Clock
) -> str:
    """Do what the hook says; what went wrong, or ""."""
    lifecycle = container.lifecycle
    handler = None if lifecycle is None else lifecycle.post_start if command.hook == POST_START else lifecycle.pre_stop
    if handler is None:
        return ""
    return await _run(handler, command, container, pod_uid=pod_uid, address=address, runtime=runtime, http=http, clock=clock)


async def _run(
    handler: LifecycleHandler,
    command: RunHook,
    container: Container,
    *,
    pod_uid: str,
    address: str,
    runtime: Runtime,
    http: Http,
    clock: Clock,
) -> str:
    if handler.exec is not None:
        outcome = await run_command(runtime, pod_uid, command.id, handler.exec.command, command.seconds)
    elif handler.http_get is not None:
        outcome = await http.get(container, handler.http_get, address, command.seconds, "kube-lifecycle/1.36")
    elif handler.sleep is not None:
        await clock.sleep(min(float(handler.sleep.seconds), command.seconds))
        return ""
    else:
        return "invalid handler"
    return "" if outcome.ok else outcome.message or "hook failed"
