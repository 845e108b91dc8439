"""Containers as processes: killed ones come back, what nobody wants ends."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from setpoint.testing.real import Kubectl, eventually, processes_of

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: {policy}
  containers:
  - name: app
    image: demo:v1
    command: [sh, -c, "{script}"]
    env: [{{name: MARK, value: "{mark}"}}]
"""


def pod(kubectl: Kubectl, namespace: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kubectl("get", "pod", "p", "-n", namespace, "-o", "json"))
    return found


def container(kubectl: Kubectl, namespace: str) -> dict[str, Any]:
    statuses = pod(kubectl, namespace)["status"].get("containerStatuses") or [{}]
    found: dict[str, Any] = statuses[0]
    return found


def run(kubectl: Kubectl, namespace: str, script: str, policy: str = "Always") -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=POD.format(script=script, policy=policy, mark=namespace))


def test_a_killed_process_runs_again_within_a_second(kubectl: Kubectl, namespace: str) -> None:
    run(kubectl, namespace, "exec sleep 1000")
    eventually(lambda: bool(container(kubectl, namespace).get("ready")))
    (victim,) = processes_of("MARK", namespace)
    killed = time.monotonic()
    victim.kill()
    eventually(lambda: any(found.pid != victim.pid for found in processes_of("MARK", namespace)), seconds=5, pause=0.01)
    assert time.monotonic() - killed < 1
    eventually(lambda: container(kubectl, namespace).get("restartCount") == 1)
    ended = container(kubectl, namespace)["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "Error")


def test_repeated_crashes_back_off(kubectl: Kubectl, namespace: str) -> None:
    run(kubectl, namespace, "exit 3")
    eventually(lambda: container(kubectl, namespace).get("state", {}).get("waiting", {}).get("reason") == "CrashLoopBackOff")
    held = container(kubectl, namespace)
    assert "back-off 10s restarting failed container=app" in held["state"]["waiting"]["message"]
    assert held["lastState"]["terminated"]["exitCode"] == 3
    assert kubectl("get", "pod", "p", "-n", namespace).splitlines()[1].split()[2] == "CrashLoopBackOff"


@pytest.mark.parametrize(("script", "phase"), [("exit 0", "Succeeded"), ("exit 4", "Failed")])
def test_a_pod_that_is_not_restarted_ends(kubectl: Kubectl, namespace: str, script: str, phase: str) -> None:
    run(kubectl, namespace, script, policy="Never")
    eventually(lambda: pod(kubectl, namespace)["status"]["phase"] == phase)


def test_deletion_ends_every_process_of_the_pod(kubectl: Kubectl, namespace: str) -> None:
    run(kubectl, namespace, "setsid sleep 1000 & exec sleep 1000")
    eventually(lambda: len(processes_of("MARK", namespace)) >= 2)
    kubectl("delete", "pod", "p", "-n", namespace)
    eventually(lambda: not processes_of("MARK", namespace))


def test_the_service_account_is_at_its_place(kubectl: Kubectl, namespace: str) -> None:
    where = "/var/run/secrets/kubernetes.io/serviceaccount"
    run(kubectl, namespace, f"cat {where}/namespace; echo; wc -c < {where}/ca.crt; exec sleep 1000")
    eventually(lambda: len(kubectl("logs", "p", "-n", namespace, check=False).splitlines()) == 2)
    first, size = kubectl("logs", "p", "-n", namespace).splitlines()
    assert first == namespace
    assert int(size) > 100


def test_an_image_without_a_command_says_what_to_do(kubectl: Kubectl, namespace: str) -> None:
    kubectl("run", "p", "-n", namespace, "--image=example.com/nothing:v1")
    eventually(
        lambda: (
            container(kubectl, namespace).get("state", {}).get("waiting", {}).get("reason")
            in ("ErrImagePull", "ImagePullBackOff")
        )
    )
    said = kubectl("describe", "pod", "p", "-n", namespace)
    assert "command" in said
