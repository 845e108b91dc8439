from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any, cast

import psutil
from tests.node.conftest import NODE, Rig, eventually, of_pod, restarted, sh, waits_for

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import CONFIGMAPS, NODES, PODS, SECRETS, Pod
from setpoint.client.client import ClientProtocol
from setpoint.kit.clock import VirtualClock
from setpoint.node.agent import Agent
from setpoint.node.options import AgentOptions
from setpoint.node.sources import SourceUnavailable


def untouched() -> bool:
    return not Path("/etc/cfg").exists()


async def test_a_bound_pod_becomes_a_process_and_ends_with_its_object(rig: Rig) -> None:
    agent = await rig.start_agent()
    pod = await rig.create(sh("echo hello $POD_IP; sleep 1000"))
    pod = await rig.running()
    assert pod.status.pod_ip.startswith("127.64.")
    assert pod.status.host_ip == "127.0.0.1"
    status = pod.status.container_statuses[0]
    assert status.container_id.startswith("process://")
    assert psutil.Process(rig.pid()).name() in ("sh", "sleep")
    assert await rig.log_has("hello") == f"hello {pod.status.pod_ip}\n"
    worker = agent.pods()[0]
    await rig.admin.delete(PODS, "p", "default")
    await rig.gone()
    await eventually(lambda: not agent.pods() and not Path(worker.directory).exists())
    assert not of_pod(pod.metadata.uid)


async def test_the_node_is_registered_and_ready(rig: Rig) -> None:
    await rig.start_agent()
    node = await rig.admin.get(NODES, NODE)
    assert {condition.type: condition.status for condition in node.status.conditions} == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert node.metadata.labels["kubernetes.io/hostname"] == NODE
    assert node.status.capacity["pods"] == "110"
    assert node.status.daemon_endpoints.kubelet_endpoint is not None
    assert node.status.daemon_endpoints.kubelet_endpoint.port == rig.agent.port
    assert node.status.node_info.kubelet_version == "v1.36.0"


async def test_a_killed_process_is_back_within_a_second(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("sleep 1000"))
    await rig.running()
    os.kill(rig.pid(), signal.SIGKILL)
    began = time.monotonic()
    pod = await rig.until(restarted)
    assert time.monotonic() - began < 1
    ended = pod.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert (ended.exit_code, ended.reason) == (137, "Error")
    conditions = {condition.type: condition for condition in pod.status.conditions}
    assert (conditions["Ready"].status, conditions["Ready"].reason, conditions["Ready"].message) == ("True", "", "")


async def test_logs_in_all_their_forms(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("for i in 1 2 3 4 5; do echo line $i; done; echo bad >&2; exec sleep 1000"))
    await rig.running()
    await rig.log_has("bad")
    assert await rig.kubectl("logs", "p", "--tail=2") in ("line 5\nbad\n", "bad\nline 5\n", "line 4\nline 5\n")
    assert await rig.kubectl("logs", "p", "--tail=0") == ""
    stamped = (await rig.kubectl("logs", "p", "--timestamps")).splitlines()
    assert all(line[:2] == "20" and line.split(" ")[0].endswith("Z") for line in stamped)
    assert await rig.kubectl("logs", "p", "--limit-bytes=6") == "line 1"
    assert len((await rig.kubectl("logs", "p", "--since=1h")).splitlines()) == 6
    assert "previous terminated container" in await rig.kubectl("logs", "p", "-p", ok=False)
    os.kill(rig.pid(), signal.SIGKILL)
    await rig.until(lambda pod: pod.status.container_statuses[0].restart_count == 1)
    assert len((await rig.kubectl("logs", "p", "-p")).splitlines()) == 6


async def test_following_a_log_ends_with_the_container(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("for i in 1 2 3; do echo $i; sleep 0.2; done"), restartPolicy="Never")
    await rig.until(lambda pod: pod.status.phase == "Running")
    assert await rig.kubectl("logs", "-f", "p") == "1\n2\n3\n"


async def test_exec_in_all_its_forms(rig: Rig) -> None:
    await rig.start_agent(stop_pods=False)
    await rig.create(sh("sleep 1000"))
    await rig.running()
    assert await rig.kubectl("exec", "p", "--", "echo", "from inside") == "from inside\n"
    assert "exit code 7" in await rig.kubectl("exec", "p", "--", "sh", "-c", "exit 7", ok=False)
    assert await rig.kubectl("exec", "-i", "p", "--", "sh", "-c", "cat; echo end", stdin=b"given\n") == "given\nend\n"
    assert "executable file not found" in await rig.kubectl("exec", "p", "--", "no-such-program", ok=False)
    assert await rig.kubectl("exec", "p", "--", "cat", "/var/run/secrets/kubernetes.io/serviceaccount/namespace") == "default"
    await _debug(rig)


async def _debug(rig: Rig) -> None:
    """Look at a pod that runs, by a container that outlives the agent and ends without any harm."""
    script = ("--image=host", "--target=c", "-q", "--", "sh", "-c", "read x; echo $x and $0; exec sleep 1000 >/dev/null 2>&1")
    assert "given and sh" in await rig.kubectl("debug", "p", "-i", "-c", "d", *script, stdin=b"given\n")
    assert await rig.kubectl("logs", "p", "-c", "d") == "given and sh\n"
    await rig.stop_agent()
    await rig.start_agent(stop_pods=False)
    assert await rig.kubectl("exec", "p", "-c", "d", "--", "echo", "adopted") == "adopted\n"
    os.kill(rig.pid("d"), signal.SIGKILL)
    pod = await rig.until(lambda pod: pod.status.ephemeral_container_statuses[0].state.terminated)
    assert (pod.status.phase, pod.status.container_statuses[0].restart_count) == ("Running", 0)


async def test_volumes_lie_at_their_paths_and_follow_their_sources(rig: Rig) -> None:
    await rig.start_agent()
    await rig.admin.create(CONFIGMAPS, {"metadata": {"name": "cfg"}, "data": {"a": "one", "b": "two"}}, "default")
    await rig.admin.create(SECRETS, {"metadata": {"name": "key"}, "data": {"k": "c2VjcmV0"}}, "default")
    volumes = [
        {"name": "cfg", "configMap": {"name": "cfg"}},
        {"name": "one", "configMap": {"name": "cfg", "items": [{"key": "a", "path": "deep/a", "mode": 0o400}]}},
        {"name": "key", "secret": {"secretName": "key"}},
        {"name": "info", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "none", "configMap": {"name": "missing", "optional": True}},
    ]
    mounts = [
        {"name": "cfg", "mountPath": "/etc/cfg"},
        {"name": "one", "mountPath": "/mnt/one"},
        {"name": "cfg", "mountPath": "/mnt/sub.txt", "subPath": "b"},
        {"name": "key", "mountPath": "/etc/key", "readOnly": True},
        {"name": "info", "mountPath": "/etc/info"},
        {"name": "scratch", "mountPath": "/scratch"},
        {"name": "none", "mountPath": "/none"},
    ]
    writer = sh("echo shared > /scratch/file; exec sleep 1000", name="w", volumeMounts=mounts)
    await rig.create(sh("exec sleep 1000", volumeMounts=mounts), writer, volumes=volumes)
    await rig.running()

    async def cat(path: str) -> str:
        return await rig.kubectl("exec", "p", "-c", "c", "--", "cat", path)

    assert await cat("/etc/cfg/a") == "one"
    assert await cat("/mnt/one/deep/a") == "one"
    assert await cat("/mnt/sub.txt") == "two"
    assert await cat("/etc/key/k") == "secret"
    assert await cat("/etc/info/labels") == 'app="web"'
    assert await cat("/scratch/file") == "shared\n"
    assert "Read-only" in await rig.kubectl("exec", "p", "-c", "c", "--", "touch", "/etc/key/x", ok=False)
    assert "Read-only" in await rig.kubectl("exec", "p", "-c", "c", "--", "touch", "/etc/cfg/x", ok=False), "never writable"
    assert untouched(), "the host is not touched"
    await rig.admin.patch(CONFIGMAPS, "cfg", {"data": {"a": "changed"}}, "default")
    for _ in range(50):
        if await cat("/etc/cfg/a") == "changed":
            break
        await asyncio.sleep(0.05)
    assert await cat("/etc/cfg/a") == "changed"


async def test_a_missing_source_holds_the_pod_back_until_it_is_there(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(
        sh("sleep 1000", volumeMounts=[{"name": "v", "mountPath": "/v"}]), volumes=[{"name": "v", "configMap": {"name": "late"}}]
    )
    for _ in range(100):
        if found := await rig.events("FailedMount"):
            break
        await asyncio.sleep(0.02)
    assert found == ['MountVolume.SetUp failed for volume "v" : configmap "late" not found']
    await rig.admin.create(CONFIGMAPS, {"metadata": {"name": "late"}, "data": {"a": "b"}}, "default")
    await rig.running()


async def test_the_environment_in_all_its_forms(rig: Rig) -> None:
    await rig.start_agent()
    await rig.admin.create(CONFIGMAPS, {"metadata": {"name": "cfg"}, "data": {"a": "one", "B": "two"}}, "default")
    await rig.admin.create(SECRETS, {"metadata": {"name": "key"}, "data": {"k": "c2VjcmV0"}}, "default")
    env = [
        {"name": "PLAIN", "value": "x"},
        {"name": "COMPOSED", "value": "$(PLAIN)-$(B)-$$(PLAIN)-$(NONE)"},
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu", "divisor": "1m"}}},
        {"name": "MEM", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
        {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "a"}}},
        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}},
        {"name": "NOT", "valueFrom": {"configMapKeyRef": {"name": "nope", "key": "a", "optional": True}}},
    ]
    env_from = [{"configMapRef": {"name": "cfg"}}, {"prefix": "P_", "secretRef": {"name": "key"}}]
    script = "echo $PLAIN $COMPOSED $NAME $LABEL $CPU $MEM $KEY $SECRET [$NOT] $a $P_k $0; [ $IP = $POD_IP ] && echo same"
    resources = {"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    await rig.create(
        {
            "name": "c",
            "image": "host",
            "command": ["sh", "-c", script],
            "args": ["$(NAME)"],
            "env": env,
            "envFrom": env_from,
            "resources": resources,
        },
        restartPolicy="Never",
    )
    await rig.until(lambda pod: pod.status.phase == "Succeeded")
    assert await rig.kubectl("logs", "p") == "x x-two-$(PLAIN)-$(NONE) p web 250 64 one secret [] one secret p\nsame\n"


async def test_an_image_without_a_command_waits_and_says_what_to_do(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create({"name": "c", "image": "registry.example/none:1"})
    pod = await rig.until(lambda pod: waits_for(pod) == "ErrImagePull")
    waiting = pod.status.container_statuses[0].state.waiting
    assert waiting is not None
    assert "give the container a command" in waiting.message
    assert "trying and failing to pull image" in await rig.kubectl("logs", "p", ok=False)
    await rig.until(lambda pod: waits_for(pod) == "ImagePullBackOff")


async def test_termination_messages(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(
        sh("echo the reason > /dev/termination-log; exit 3", name="file"),
        sh("echo first; echo last words; exit 4", name="logs", terminationMessagePolicy="FallbackToLogsOnError"),
        restartPolicy="Never",
    )
    pod = await rig.until(lambda pod: pod.status.phase == "Failed")
    messages = {
        status.name: status.state.terminated.message for status in pod.status.container_statuses if status.state.terminated
    }
    assert messages == {"file": "the reason\n", "logs": "first\nlast words\n"}


async def test_probes_against_the_pods_own_address(rig: Rig) -> None:
    await rig.start_agent()
    server = {"name": "c", "image": "host", "command": ["python3", "-u", "-m", "http.server", "18081"]}
    ports = [{"name": "web", "containerPort": 18081}]
    quick = {"periodSeconds": 1, "httpGet": {"path": "/", "port": "web"}}
    await rig.create(
        {
            **server,
            "ports": ports,
            "readinessProbe": quick,
            "startupProbe": {**quick, "tcpSocket": {"port": 18081}, "httpGet": None},
        }
    )
    pod = await rig.running()
    assert pod.status.container_statuses[0].started
    await rig.create(sh("sleep 1000", ports=ports, readinessProbe=quick), name="q")
    for _ in range(200):
        if found := [text for text in await rig.events("Unhealthy") if "is held by" in text]:
            break
        await asyncio.sleep(0.02)
    assert found, "an answer of another pod's process is no answer"


async def test_a_node_takes_back_what_others_said_of_its_pods_while_it_was_silent(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("exec sleep 1000"))
    await rig.running()
    said = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    await rig.admin.patch(PODS, "p", said, "default", kind="strategic", subresource="status")
    await rig.until(lambda pod: {each.type: each.status for each in pod.status.conditions}["Ready"] == "True")


async def test_a_failed_liveness_probe_restarts(rig: Rig) -> None:
    await rig.start_agent()
    probe = {"exec": {"command": ["sh", "-c", "echo not well; exit 1"]}, "periodSeconds": 1, "failureThreshold": 1}
    await rig.create(sh("exec sleep 1000", livenessProbe=probe))
    await rig.until(lambda pod: pod.status.container_statuses and pod.status.container_statuses[0].restart_count >= 1)
    for _ in range(100):
        if found := await rig.events("Unhealthy"):
            break
        await asyncio.sleep(0.02)
    assert found[0] == "Liveness probe failed: not well\n"


async def test_hooks_and_sidecars(rig: Rig) -> None:
    await rig.start_agent()
    mount: dict[str, Any] = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    wait = "while :; do sleep 0.05; done"
    script = f"echo side >> /v/log; trap 'echo side ended >> /v/log; exit 0' TERM; {wait}"
    side = sh(script, name="side", restartPolicy="Always", **mount)
    init = sh("echo init >> /v/log", name="init", **mount)
    main = sh(
        f"echo main >> /v/log; trap 'echo main ended >> /v/log; exit 0' TERM; {wait}",
        lifecycle={
            "postStart": {"exec": {"command": ["sh", "-c", "echo post >> /v/log"]}},
            "preStop": {"exec": {"command": ["sh", "-c", "echo pre >> /v/log"]}},
        },
        **mount,
    )
    host = rig.directory / "shared"
    await rig.create(main, initContainers=[side, init], volumes=[{"name": "v", "hostPath": {"path": str(host)}}])
    await rig.running()
    await rig.admin.delete(PODS, "p", "default", grace_seconds=5)
    await rig.gone()
    lines = (host / "log").read_text().splitlines()
    assert lines[:2] == ["side", "init"]
    assert sorted(lines[2:4]) == ["main", "post"]
    assert lines[4:] == ["pre", "main ended", "side ended"]


async def test_while_the_api_server_is_away_containers_are_still_restarted(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("sleep 1000"))
    pod = await rig.running()
    rig.wire.cut.set()
    before = rig.pid()
    os.kill(before, signal.SIGKILL)
    await eventually(lambda: rig.pid() not in (0, before) and psutil.pid_exists(rig.pid()))
    assert (await rig.pod()).status.container_statuses[0].restart_count == 0
    rig.wire.cut.clear()
    pod = await rig.until(lambda pod: pod.status.container_statuses[0].restart_count == 1, seconds=15)
    assert pod.status.phase == "Running"


async def test_an_agent_that_starts_without_an_api_server_works_from_what_it_wrote_down(rig: Rig) -> None:
    await rig.admin.create(CONFIGMAPS, {"metadata": {"name": "cfg"}, "data": {"a": "one"}}, "default")
    await rig.start_agent(stop_pods=False)
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "cfg", "key": "a"}}}]
    await rig.create(sh("echo $A; exec sleep 1000", env=env))
    await rig.running()
    before = rig.pid()
    await rig.stop_agent()
    assert psutil.pid_exists(before)
    rig.wire.cut.set()
    os.kill(before, signal.SIGKILL)
    await rig.start_agent(wait=False)
    await eventually(lambda: rig.agent.pods() and rig.pid() not in (0, before), 25)
    rig.wire.cut.clear()
    await rig.until(restarted, seconds=15)
    await eventually(rig.agent.registered.is_set, 5)  # only then does the API server know the new port
    await rig.log_has("one")


async def test_an_orderly_end_leaves_no_process_and_the_next_agent_starts_again(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("exec sleep 1000"))
    pod = await rig.running()
    await rig.stop_agent()
    assert not of_pod(pod.metadata.uid)
    await rig.start_agent()
    await rig.until(restarted)


async def test_no_container_starts_before_services_were_read_once(tmp_path: Path) -> None:
    clock, nobody = VirtualClock(), cast("ClientProtocol", None)
    agent = Agent(AgentOptions(name="n", directory=tmp_path), nobody, clock)
    pod = convert({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": [{"name": "c"}]}}, Pod)
    asked = asyncio.ensure_future(agent._service_environment(pod))
    await clock.advance(10)
    assert isinstance(asked.exception(), SourceUnavailable)
    agent._service_informer.synced.set()
    await agent._service_environment(pod)
