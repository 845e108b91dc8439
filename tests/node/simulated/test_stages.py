from __future__ import annotations

from typing import Any

from msgspec import structs

from setpoint.api.types import core_v1
from setpoint.api.types.base import convert
from setpoint.node.simulated.stages import Place, Stages, next_step
from setpoint.testing.objects import NOW, metadata

PLACE = Place("172.16.0.1", "10.64.1.1")


def pod(status: dict[str, Any] | None = None, policy: str = "Always", **meta: Any) -> core_v1.Pod:
    body = {
        "metadata": metadata(**{"name": "p", **meta}),
        "spec": {"nodeName": "n", "restartPolicy": policy, "containers": [{"name": "c", "image": "i"}]},
        "status": status or {"phase": "Pending"},
    }
    return convert(body, core_v1.Pod)


def after(before: core_v1.Pod, stages: Stages, *, lost: bool = False, now: float = NOW) -> core_v1.Pod:
    step = next_step(before, stages, lost=lost)
    assert step is not None
    assert step.status is not None
    return pod(step.status(PLACE, now), before.spec.restart_policy)


def debug(ready: core_v1.Pod, *names: str) -> core_v1.Pod:
    """The pod with these ephemeral containers in its spec, and what was already told of them."""
    added = tuple(core_v1.EphemeralContainer(name=name, image="i") for name in names)
    return structs.replace(ready, spec=structs.replace(ready.spec, ephemeral_containers=added))


def conditions(of: core_v1.Pod) -> dict[str, str]:
    return {condition.type: condition.status for condition in of.status.conditions}


def test_from_bound_to_ready() -> None:
    stages = Stages(create=2, ready=3)
    creating = after(pod(), stages)
    assert creating.status.container_statuses[0].state.waiting is not None
    assert (creating.status.phase, creating.status.pod_ip, creating.status.host_ip) == ("Pending", "", "172.16.0.1")
    running = after(creating, stages)
    assert (running.status.phase, running.status.pod_ip, conditions(running)["Ready"]) == ("Running", "10.64.1.1", "False")
    ready = after(running, stages, now=NOW + 3)
    assert conditions(ready) == dict.fromkeys(["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"], "True")
    assert ready.status.container_statuses[0].state.running == running.status.container_statuses[0].state.running
    assert next_step(ready, stages) is None


def test_a_pod_that_is_made_quickly_is_written_once_and_ready_as_it_runs() -> None:
    running = after(pod(), Stages())
    assert conditions(running)["Ready"] == "True"
    assert running.status.start_time == "2030-03-17T17:46:40Z"
    assert next_step(running, Stages()) is None


def test_transition_times_move_with_the_status_only() -> None:
    stages = Stages(ready=3)
    running = after(pod(), stages, now=NOW)
    ready = after(running, stages, now=NOW + 50)
    times = {condition.type: condition.last_transition_time for condition in ready.status.conditions}
    assert times["PodReadyToStartContainers"] != times["Ready"]


def test_deletion_ends_it_whatever_its_stage() -> None:
    step = next_step(pod(deletionTimestamp="2030-01-01T00:00:00Z", deletionGracePeriodSeconds=30), Stages(stop=5))
    assert step is not None
    assert (step.status, step.after) == (None, 5)
    step = next_step(pod(deletionTimestamp="2030-01-01T00:00:00Z", deletionGracePeriodSeconds=2), Stages(stop=5))
    assert step is not None
    assert step.after == 2


def test_a_failing_container_restarts_or_ends_by_policy() -> None:
    stages = Stages(fail=10)
    ready = after(pod(), stages)
    again = after(ready, stages)
    assert (again.status.container_statuses[0].restart_count, conditions(again)["Ready"]) == (1, "False")
    assert again.status.container_statuses[0].last_state.terminated is not None
    never = after(pod(policy="Never"), stages)
    failed = after(never, stages)
    assert failed.status.phase == "Failed"
    assert next_step(failed, stages) is None


def test_completion_is_for_those_that_do_not_restart_always() -> None:
    stages = Stages(complete=10)
    ready = after(pod(policy="OnFailure"), stages)
    assert after(ready, stages).status.phase == "Succeeded"
    assert next_step(after(pod(), stages), stages) is None


def test_what_died_with_its_node_is_restarted() -> None:
    ready = after(pod(), Stages())
    back = after(ready, Stages(), lost=True)
    terminated = back.status.container_statuses[0].last_state.terminated
    assert terminated is not None
    assert (back.status.container_statuses[0].restart_count, terminated.exit_code) == (1, 137)


def test_ephemeral_containers_run_beside_the_others_and_end_with_them() -> None:
    ready = debug(after(pod(policy="Never"), Stages()), "d")
    step = next_step(ready, Stages(complete=10))
    assert step is not None
    assert step.status is not None
    assert (step.after, step.aside) == (0, True)
    told = step.status(PLACE, NOW + 5)
    assert list(told) == ["ephemeralContainerStatuses"]
    known = convert(told, core_v1.PodStatus)
    assert known.ephemeral_container_statuses[0].state.running is not None
    debugged = structs.replace(
        ready, status=structs.replace(ready.status, ephemeral_container_statuses=known.ephemeral_container_statuses)
    )
    assert next_step(debugged, Stages()) is None
    ended = after(debugged, Stages(complete=10), now=NOW + 10).status.ephemeral_container_statuses[0].state.terminated
    assert ended is not None
    assert (ended.exit_code, ended.started_at, ended.finished_at) == (137, "2030-03-17T17:46:45Z", "2030-03-17T17:46:50Z")
    lost = after(debugged, Stages(), lost=True).status.ephemeral_container_statuses[0]
    assert lost.state.terminated is not None
    again = debug(structs.replace(ready, status=structs.replace(ready.status, ephemeral_container_statuses=(lost,))), "d", "e")
    second = next_step(again, Stages())
    assert second is not None
    assert second.status is not None
    first, other = second.status(PLACE, NOW + 20)["ephemeralContainerStatuses"]
    assert (first["state"]["terminated"]["exitCode"], "running" in other["state"]) == (137, True)
