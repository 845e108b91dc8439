"""Ephemeral containers (KEP-277): beside the others, never again, and of no weight."""

from __future__ import annotations

from typing import Any

import msgspec
from tests.node.pods import START, Shell, begin, container, deleted, pod

from setpoint.node.pod_worker import messages as m


def debugged(*names: str, target: str = "", **more: Any) -> m.PodChanged:
    """The pod after `kubectl debug`."""
    added = [container(name, targetContainerName=target) for name in names]
    return m.PodChanged(pod(ephemeralContainers=added, **more))


def test_they_are_started_beside_what_runs_and_change_nothing_else() -> None:
    shell = begin(pod())
    before = shell.status
    shell.now += 60
    shell.post(debugged("d", target="c"))
    assert [(name, attempt) for _, name, attempt in shell.starts] == [("c", 0), ("d", 0)]
    after = shell.status
    (status,) = after.pop("ephemeralContainerStatuses")
    assert before.pop("ephemeralContainerStatuses") is None
    assert after == before
    assert "started" not in status
    assert (status["state"], status["ready"], status["restartCount"]) == (
        {"running": {"startedAt": "2030-03-17T17:47:40Z"}},
        False,
        0,
    )


def test_they_are_never_restarted_and_their_end_is_no_failure() -> None:
    shell = begin(pod())
    shell.post(debugged("d"))
    shell.exit("d", 3, "why")
    shell.advance(1000)
    assert [name for _, name, _ in shell.starts] == ["c", "d"]
    ended = shell.container("d")["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (3, "Error", "why")
    assert (shell.status["phase"], shell.condition("Ready")["status"]) == ("Running", "True")


def test_one_may_look_at_a_pod_that_is_not_initialized() -> None:
    init = [container("i")]
    shell = begin(pod(init=init))
    shell.post(debugged("d", init=init))
    assert [name for _, name, _ in shell.starts] == ["i", "d"]
    assert shell.status["phase"] == "Pending"
    shell.exit("i", 0)
    assert [name for _, name, _ in shell.starts] == ["i", "d", "c"]


def test_a_target_must_have_run() -> None:
    init = [container("i")]
    shell = begin(pod(init=init))
    shell.post(debugged("d", target="c", init=init))
    waiting = {"reason": "CreateContainerConfigError", "message": "unable to find target container c"}
    assert shell.container("d")["state"] == {"waiting": waiting}
    assert shell.events("Failed") == ["Error: unable to find target container c"]
    shell.exit("i", 0)
    assert "running" in shell.container("d")["state"]


def test_one_that_is_no_program_has_failed_and_an_image_is_waited_for() -> None:
    shell = begin(pod())
    shell.refuse = {"d": ("StartError", "no such file"), "e": ("ErrImagePull", "no image")}
    shell.post(debugged("d", "e"))
    assert shell.container("d")["state"]["terminated"]["reason"] == "StartError"
    shell.refuse = {}
    shell.advance(60)
    assert [name for _, name, _ in shell.starts] == ["c", "d", "e", "e"]
    assert "running" in shell.container("e")["state"]


def test_they_end_with_the_pods_containers() -> None:
    shell = begin(pod(restartPolicy="Never"))
    shell.post(debugged("d", restartPolicy="Never"))
    shell.exit("c", 0)
    assert shell.status["phase"] == "Succeeded"
    assert shell.container("d")["state"]["terminated"]["exitCode"] == 143
    assert shell.did(m.StopSandbox)


def test_they_are_stopped_with_a_deleted_pod() -> None:
    shell = begin(pod())
    changed = debugged("d")
    shell.post(changed)
    shell.post(m.PodChanged(deleted(changed.pod, 30)))
    assert {command.name for command in shell.did(m.Signal)} == {"c", "d"}
    assert shell.did(m.DeletePod)


def test_a_later_agent_adopts_them() -> None:
    shell = begin(pod())
    changed = debugged("d", "e")
    shell.post(changed)
    shell.exit("e", 0)
    saved = msgspec.json.decode(msgspec.json.encode(shell.core.snapshot()))
    later = Shell(changed.pod, saved)
    later.post(m.Adopted(alive=True, containers=[shell.info("c"), shell.info("d"), shell.info("e", code=0)]))
    assert not later.starts
    assert later.container("d")["state"] == {"running": {"startedAt": "2030-03-17T17:46:40Z"}}
    assert later.container("e")["state"]["terminated"]["exitCode"] == 0
    later.post(m.SandboxLost())
    assert [(round(when), name) for when, name, _ in later.starts] == [(0, "c")]
    assert later.container("d")["state"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert later.now == START
