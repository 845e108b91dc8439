from __future__ import annotations

import signal

import msgspec
import pytest
from tests.node.pods import START, Shell, begin, container, deleted, pod

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import PodStatus
from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.track import Phase
from setpoint.node.runtime import ContainerInfo


def test_a_bound_pod_runs_and_is_ready() -> None:
    shell = begin(pod())
    assert shell.status["phase"] == "Running"
    assert shell.status["podIP"] == "127.64.0.2"
    assert shell.container()["state"] == {"running": {"startedAt": "2030-03-17T17:46:40Z"}}
    assert shell.container()["ready"] is True
    assert shell.container()["started"] is True
    assert [(entry["type"], entry["status"]) for entry in shell.status["conditions"]] == [
        ("PodReadyToStartContainers", "True"),
        ("Initialized", "True"),
        ("Ready", "True"),
        ("ContainersReady", "True"),
        ("PodScheduled", "True"),
    ]
    assert shell.events() == [
        'Container image "c:1" already present on machine and can be accessed by the pod',
        "Container created",
        "Container started",
    ]


def test_before_it_runs_a_container_is_being_created() -> None:
    shell = Shell(pod(container("a"), container("b")))
    shell.core.handle(m.PodChanged(shell.core.pod), START)
    assert shell.status["phase"] == "Pending"
    assert shell.container("a")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    ready = shell.condition("Ready")
    assert (ready["status"], ready["reason"], ready["message"]) == (
        "False",
        "ContainersNotReady",
        "containers with unready status: [a b]",
    )


def test_crash_backoff_doubles_from_ten_seconds_to_five_minutes() -> None:
    shell = begin(pod())
    for _ in range(9):
        shell.exit("c", 1)
        shell.advance(300)
    # each crash comes at the moment of the last advance's end: what counts is the wait after it
    waits = [round(start - 300 * number) for number, (start, _, _) in enumerate(shell.starts[1:])]
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300, 300]
    assert shell.container()["restartCount"] == 9


def test_the_first_restart_is_immediate_and_the_second_waits() -> None:
    shell = begin(pod())
    shell.exit("c", 137)
    assert shell.container()["restartCount"] == 1
    assert "running" in shell.container()["state"]
    assert shell.container()["lastState"]["terminated"]["exitCode"] == 137
    shell.exit("c", 1)
    state = shell.container()
    assert state["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=c pod=p_ns(u-1)",
    }
    assert state["restartCount"] == 1
    assert state["lastState"]["terminated"]["reason"] == "Error"
    assert shell.status["phase"] == "Running"
    assert shell.events("BackOff") == ["Back-off restarting failed container c in pod p_ns(u-1)"]
    shell.advance(9.9)
    assert shell.container()["restartCount"] == 1
    shell.advance(0.2)
    assert shell.container()["restartCount"] == 2


def test_ten_good_minutes_forget_the_backoff() -> None:
    shell = begin(pod())
    for _ in range(4):
        shell.exit("c", 1)
        shell.advance(300)
    shell.advance(601)
    before = len(shell.starts)
    shell.exit("c", 1)
    assert len(shell.starts) == before + 1
    shell.exit("c", 1)
    assert "back-off 10s" in shell.container()["state"]["waiting"]["message"]


@pytest.mark.parametrize(
    ("policy", "code", "phase", "starts"),
    [("Never", 0, "Succeeded", 1), ("Never", 3, "Failed", 1), ("OnFailure", 0, "Succeeded", 1), ("OnFailure", 3, "Running", 2)],
)
def test_restart_policies(policy: str, code: int, phase: str, starts: int) -> None:
    shell = begin(pod(restartPolicy=policy))
    shell.exit("c", code, "said at the end")
    assert shell.status["phase"] == phase
    assert len(shell.starts) == starts
    if starts == 1:
        ended = shell.container()["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (code, "Completed" if code == 0 else "Error")
        assert ended["message"] == "said at the end"
        assert shell.condition("Ready")["reason"] == ("PodCompleted" if code == 0 else "PodFailed")
        assert shell.did(m.StopSandbox)


def test_init_containers_run_one_after_another() -> None:
    shell = begin(pod(container("main"), init=[container("i1"), container("i2")]))
    assert [name for _, name, _ in shell.starts] == ["i1"]
    assert shell.status["phase"] == "Pending"
    assert shell.container("main")["state"] == {"waiting": {"reason": "PodInitializing"}}
    initialized = shell.condition("Initialized")
    assert initialized["status"] == "False"
    assert initialized["message"] == "containers with incomplete status: [i1 i2]"
    shell.exit("i1", 0)
    assert [name for _, name, _ in shell.starts] == ["i1", "i2"]
    shell.exit("i2", 0)
    assert [name for _, name, _ in shell.starts] == ["i1", "i2", "main"]
    assert shell.condition("Initialized")["status"] == "True"
    assert shell.container("i1")["ready"] is True
    assert shell.status["phase"] == "Running"


def test_a_failing_init_container_is_tried_again_with_backoff() -> None:
    shell = begin(pod(init=[container("i")]))
    shell.exit("i", 1)
    shell.exit("i", 1)
    assert shell.container("i")["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert shell.status["phase"] == "Pending"
    shell.advance(11)
    assert shell.container("i")["restartCount"] == 2


def test_a_failing_init_container_fails_a_pod_that_never_restarts() -> None:
    shell = begin(pod(init=[container("i")], restartPolicy="Never"))
    shell.exit("i", 1)
    assert shell.status["phase"] == "Failed"
    assert shell.condition("Initialized")["status"] == "False"
    assert [name for _, name, _ in shell.starts] == ["i"]


def test_sidecars_start_first_and_end_last() -> None:
    side = container("side", restartPolicy="Always", startupProbe={"exec": {"command": ["true"]}})
    shell = begin(pod(container("main"), init=[side, container("i")], restartPolicy="Never"))
    assert [name for _, name, _ in shell.starts] == ["side"]
    shell.post(m.Probed("side", shell.core.track("side").id, m.STARTUP, ok=True))
    shell.exit("i", 0)
    assert [name for _, name, _ in shell.starts] == ["side", "i", "main"]
    shell.exit("side", 1)
    assert [name for _, name, _ in shell.starts][-1] == "side"
    shell.exit("main", 0)
    assert shell.status["phase"] == "Succeeded"
    assert shell.container("side")["state"]["terminated"]
    assert [command.name for command in shell.did(m.Signal)] == ["side"]


def test_deletion_stops_within_grace_then_kills_then_removes_the_pod() -> None:
    wanted = pod()
    shell = begin(wanted)
    shell.obedient = False
    shell.change(deleted(wanted, 30))
    assert [command.number for command in shell.did(m.Signal)] == [signal.SIGTERM]
    assert shell.events("Killing") == ["Stopping container c"]
    shell.advance(29)
    assert len(shell.did(m.Signal)) == 1
    shell.advance(2)
    assert [command.number for command in shell.did(m.Signal)] == [signal.SIGTERM, signal.SIGKILL]
    assert shell.did(m.DeletePod)
    assert shell.status["phase"] == "Failed"
    assert not shell.did(m.Finish)
    shell.post(m.PodGone())
    assert shell.did(m.Finish)


def test_a_shorter_grace_period_shortens_the_wait() -> None:
    wanted = pod()
    shell = begin(wanted)
    shell.obedient = False
    shell.change(deleted(wanted, 30))
    shell.advance(5)
    shell.change(deleted(wanted, 6))
    shell.advance(2.1)
    assert [command.number for command in shell.did(m.Signal)] == [signal.SIGTERM, signal.SIGKILL]


def test_pre_stop_counts_against_the_grace_period() -> None:
    wanted = pod(container(lifecycle={"preStop": {"exec": {"command": ["x"]}}}))
    shell = begin(wanted)
    shell.obedient = False
    shell.change(deleted(wanted, 10))
    assert [command.hook for command in shell.did(m.RunHook)] == [m.PRE_STOP]
    assert not shell.did(m.Signal)
    shell.advance(10.1)
    assert [command.number for command in shell.did(m.Signal)] == [signal.SIGTERM]
    shell.advance(2.1)
    assert [command.number for command in shell.did(m.Signal)] == [signal.SIGTERM, signal.SIGKILL]


def test_sidecars_are_stopped_after_the_containers_in_reverse() -> None:
    sides = [container("s1", restartPolicy="Always"), container("s2", restartPolicy="Always")]
    wanted = pod(container("main"), init=sides)
    shell = begin(wanted)
    shell.change(deleted(wanted, 30))
    assert [command.name for command in shell.did(m.Signal)] == ["main", "s2", "s1"]


def test_a_pod_that_never_started_goes_at_once() -> None:
    wanted = pod()
    shell = Shell(deleted(wanted, 30))
    shell.change(deleted(wanted, 30))
    assert not shell.starts
    assert shell.did(m.DeletePod)


def test_post_start_holds_the_next_container_back_and_its_failure_ends_its_own() -> None:
    first = container("a", lifecycle={"postStart": {"exec": {"command": ["x"]}}})
    shell = begin(pod(first, container("b")))
    assert [name for _, name, _ in shell.starts] == ["a"]
    shell.post(m.HookFinished("a", shell.core.track("a").id, m.POST_START))
    assert [name for _, name, _ in shell.starts] == ["a", "b"]
    shell = begin(pod(first))
    shell.post(m.HookFinished("a", shell.core.track("a").id, m.POST_START, "boom"))
    assert shell.events("FailedPostStartHook") == ["PostStartHook failed: boom"]
    assert len(shell.starts) == 2


def test_readiness_and_liveness() -> None:
    probe = {"exec": {"command": ["x"]}}
    shell = begin(pod(container(readinessProbe=probe, livenessProbe=probe)))
    assert shell.condition("Ready")["status"] == "False"
    first = shell.core.track("c").id
    shell.now += 3
    shell.post(m.Probed("c", first, m.READINESS, ok=True))
    ready = shell.condition("Ready")
    assert (ready["status"], ready["reason"], ready["lastTransitionTime"]) == ("True", None, "2030-03-17T17:46:43Z")
    shell.post(m.Probed("c", first, m.LIVENESS, ok=False))
    assert shell.events("Killing") == ["Container c failed liveness probe, will be restarted"]
    assert shell.container()["restartCount"] == 1
    assert shell.container()["ready"] is False
    shell.post(m.Probed("c", first, m.READINESS, ok=True))
    assert shell.container()["ready"] is False, "a result of the former attempt counts for nothing"


def test_a_startup_probe_holds_started_back() -> None:
    shell = begin(pod(container(startupProbe={"exec": {"command": ["x"]}})))
    assert shell.container()["started"] is False
    assert shell.container()["ready"] is False
    shell.post(m.Probed("c", shell.core.track("c").id, m.STARTUP, ok=True))
    assert shell.container()["started"] is True
    assert shell.condition("Ready")["status"] == "True"


def test_an_image_without_command_backs_off() -> None:
    shell = Shell(pod())
    shell.refuse["c"] = ("ErrImagePull", "no such program")
    shell.change(shell.core.pod)
    assert shell.container()["state"]["waiting"] == {"reason": "ErrImagePull", "message": "no such program"}
    assert shell.events("Failed") == ['Failed to pull image "c:1": no such program', "Error: ErrImagePull"]
    shell.advance(2)
    waiting = shell.container()["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"] == 'Back-off pulling image "c:1": ErrImagePull: no such program'
    shell.advance(9)
    assert shell.container()["state"]["waiting"]["reason"] in ("ErrImagePull", "ImagePullBackOff")
    assert [round(at) for at, _, _ in shell.starts] == [0, 10]
    shell.advance(3600)
    assert [round(b[0] - a[0]) for a, b in zip(shell.starts, shell.starts[1:], strict=False)][:7] == [
        10,
        20,
        40,
        80,
        160,
        300,
        300,
    ]
    del shell.refuse["c"]
    shell.advance(300)
    assert shell.status["phase"] == "Running"
    assert shell.container()["restartCount"] == 0


def test_a_missing_config_map_is_tried_again_without_backoff() -> None:
    shell = Shell(pod())
    shell.refuse["c"] = ("CreateContainerConfigError", 'configmap "x" not found')
    shell.change(shell.core.pod)
    shell.advance(25)
    assert [round(at) for at, _, _ in shell.starts] == [0, 10, 20]
    assert shell.container()["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    assert shell.events("Failed") == ['Error: configmap "x" not found']
    assert shell.status["phase"] == "Pending"


def test_a_program_that_cannot_be_started_crashes() -> None:
    shell = Shell(pod())
    shell.refuse["c"] = ("StartError", "no such file")
    shell.change(shell.core.pod)
    state = shell.container()
    assert state["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    ended = state["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (128, "StartError", "no such file")
    assert state["restartCount"] == 1


def test_a_lost_supervisor_ends_containers_with_unknown_status_and_everything_begins_again() -> None:
    shell = begin(pod(init=[container("i")]))
    shell.exit("i", 0)
    shell.now += 60
    shell.post(m.SandboxLost())
    assert [name for _, name, _ in shell.starts] == ["i", "c", "i"]
    shell.exit("i", 0)
    assert [name for _, name, _ in shell.starts] == ["i", "c", "i", "c"]
    state = shell.container()
    assert state["restartCount"] == 1
    assert state["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert state["lastState"]["terminated"]["exitCode"] == 137


def test_the_deadline_fails_the_pod() -> None:
    shell = begin(pod(activeDeadlineSeconds=60))
    shell.advance(61)
    assert (shell.status["phase"], shell.status["reason"]) == ("Failed", "DeadlineExceeded")
    assert "terminated" in shell.container()["state"]
    assert not shell.did(m.DeletePod)


def _again(shell: Shell) -> Shell:
    """A new agent with the old one's checkpoint, as it is read from disk."""
    saved = msgspec.json.decode(msgspec.json.encode(shell.core.snapshot()))
    later = Shell(shell.core.pod, saved)
    later.now = shell.now + 5
    return later


def test_an_adopted_container_goes_on() -> None:
    shell = begin(pod(container(readinessProbe={"exec": {"command": ["x"]}})))
    shell.post(m.Probed("c", shell.core.track("c").id, m.READINESS, ok=True))
    before = shell.status
    later = _again(shell)
    later.post(m.Adopted(alive=True, containers=[shell.info("c")], addresses=["127.64.0.2"]))
    assert later.status == before
    assert not later.starts
    assert len(later.did(m.StartProbes)) == 1


def test_a_container_that_ended_meanwhile_is_restarted() -> None:
    shell = begin(pod())
    later = _again(shell)
    ended = shell.info("c", code=4)
    later.post(m.Adopted(alive=True, containers=[ended], addresses=["127.64.0.2"]))
    assert later.container()["restartCount"] == 1
    assert later.container()["lastState"]["terminated"]["exitCode"] == 4


def test_a_start_that_the_old_agent_did_not_live_to_see_is_not_repeated() -> None:
    shell = begin(pod())
    shell.exit("c", 1)
    shell.core.track("c").phase = Phase.STARTING
    later = _again(shell)
    running = ContainerInfo(shell.core.track("c").id, "u-1", "c", 1, 1, START)
    later.post(m.Adopted(alive=True, containers=[running], addresses=["127.64.0.2"]))
    assert not later.starts
    assert later.container()["restartCount"] == 1
    assert "running" in later.container()["state"]


def test_after_the_host_restarted_everything_is_lost_and_restarted() -> None:
    shell = begin(pod())
    later = _again(shell)
    lost = ContainerInfo(shell.core.track("c").id, "u-1", "c", 0, 1, START, lost=True)
    later.post(m.Adopted(alive=False, containers=[lost]))
    assert later.container()["restartCount"] == 1
    assert later.container()["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert later.status["podIP"] == "127.64.0.2"


def test_a_completed_pod_stays_completed_under_a_new_agent() -> None:
    shell = begin(pod(restartPolicy="Never"))
    shell.exit("c", 0)
    later = _again(shell)
    later.post(m.Adopted(alive=False, containers=[shell.info("c", code=0)]))
    assert not later.starts
    assert later.status["phase"] == "Succeeded"
    assert not later.did(m.RunSandbox)


def test_readiness_gates_wait_for_their_condition() -> None:
    shell = begin(pod(readinessGates=[{"conditionType": "x/y"}]))
    ready = shell.condition("Ready")
    assert ready["reason"] == "ReadinessGatesNotReady"
    assert ready["message"] == 'corresponding condition of pod readiness gate "x/y" does not exist.'
    assert shell.condition("ContainersReady")["status"] == "True"


def test_without_a_checkpoint_the_api_remembers() -> None:
    wanted = pod()
    status = {
        "startTime": "2030-01-01T00:00:00Z",
        "phase": "Running",
        "containerStatuses": [
            {
                "name": "c",
                "restartCount": 4,
                "containerID": "process://old",
                "state": {"running": {"startedAt": "2030-01-01T00:00:00Z"}},
            }
        ],
    }
    shell = begin(msgspec.structs.replace(wanted, status=convert(status, PodStatus)))
    assert shell.status["startTime"] == "2030-01-01T00:00:00Z"
    assert shell.container()["restartCount"] == 5
    ended = shell.container()["lastState"]["terminated"]
    assert (ended["reason"], ended["containerID"]) == ("ContainerStatusUnknown", "process://old")


def test_a_pod_that_the_api_calls_finished_is_left_alone() -> None:
    wanted = pod()
    shell = begin(msgspec.structs.replace(wanted, status=convert({"phase": "Failed", "reason": "Evicted"}, PodStatus)))
    assert not shell.starts
    assert shell.status["phase"] == "Failed"
    assert shell.status["reason"] == "Evicted"
