"""A node of root's on Linux, through the API: pods have addresses, users and limits of their own."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.node.conftest import Rig, sh

from setpoint.api.types.core_v1 import PODS, SECRETS
from setpoint.node.supervisor import network

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux gives pods networks, users and limits"
)

SERVER = "cd /tmp; exec python3 -m http.server 8080"
PROBE = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
ASK = (
    "import os, ssl, urllib.request as u;"
    "host, port = (os.environ['KUBERNETES_SERVICE_' + what] for what in ('HOST', 'PORT'));"
    "c = ssl.create_default_context(cafile='/ca/ca.crt');"
    "o = u.build_opener(u.ProxyHandler({}), u.HTTPSHandler(context=c)); print(host, port, o.open(f'https://{host}:{port}/version').status)"
)


def groups(name: str) -> list[Path]:
    return list(Path("/sys/fs/cgroup").rglob(name))


async def started(rig: Rig) -> None:
    where = urlsplit(rig.server.url)
    await rig.start_agent(rights=True, api_host=where.hostname, api_port=where.port)


async def networked(rig: Rig) -> None:
    await started(rig)
    if rig.agent._isolation.network != "pod":
        pytest.skip(rig.agent._isolation.complaints["HostNetwork"])


async def test_probes_and_status_use_the_pods_own_address(rig: Rig) -> None:
    await networked(rig)
    for name in ("one", "two"):
        await rig.create(sh(SERVER, readinessProbe=PROBE), name=name)
    addresses = {(await rig.running(name)).status.pod_ip for name in ("one", "two")}
    assert len(addresses) == 2
    assert all(address.startswith("10.244.") for address in addresses)
    assert (await rig.kubectl("exec", "one", "--", "sh", "-c", "echo $POD_IP; hostname")).split()[0] in addresses


async def test_a_pod_finds_the_api_server_with_its_certificate(rig: Rig) -> None:
    await networked(rig)
    ca = rig.server.authority.certificate_file.read_text()
    await rig.admin.create(SECRETS, {"metadata": {"name": "ca"}, "stringData": {"ca.crt": ca}}, "default")
    volume = {"name": "ca", "secret": {"secretName": "ca", "defaultMode": 0o400}}
    container = {"name": "c", "image": "host", "command": ["python3", "-c", ASK]}
    await rig.create({**container, "volumeMounts": [{"name": "ca", "mountPath": "/ca"}]}, volumes=[volume], restartPolicy="Never")
    await rig.until(lambda pod: pod.status.phase in {"Succeeded", "Failed"}, seconds=20)
    assert (await rig.kubectl("logs", "p")).strip() == "10.96.0.1 443 200"


async def test_a_container_that_wants_too_much_memory_is_oom_killed(rig: Rig) -> None:
    await started(rig)
    if "memory" in rig.agent._isolation.complaints.get("NoLimits", ""):
        pytest.skip("no control groups here")
    limits = {"limits": {"memory": "40Mi", "cpu": "1"}}
    script = "python3 -c 'x = b\"x\" * 200_000_000'"
    await rig.create(sh(f"exec {script}", resources=limits), restartPolicy="Never")
    pod = await rig.until(lambda pod: pod.status.phase == "Failed", seconds=20)
    ended = pod.status.container_statuses[0].state.terminated
    assert ended is not None
    assert (ended.reason, ended.exit_code) == ("OOMKilled", 137)


async def test_run_as_user_wins_and_an_empty_directory_is_the_pods_own(rig: Rig) -> None:
    await started(rig)
    mount = [{"name": "d", "mountPath": "/d"}]
    script = "id -u; stat -c %u /d; touch /d/made && stat -c %u /d/made; exec sleep 1000"
    volumes = [{"name": "d", "emptyDir": {}}]
    await rig.create(sh(script, volumeMounts=mount), name="own", volumes=volumes)
    chosen = {"runAsUser": 4321, "runAsGroup": 4321}
    await rig.create(sh(script, volumeMounts=mount), name="chosen", volumes=volumes, securityContext=chosen)
    await rig.running("own")
    own = set((await rig.log_has("", "own")).split())
    assert len(own) == 1
    assert int(own.pop()) >= 200_000
    await rig.running("chosen")
    assert set((await rig.log_has("4321", "chosen")).split()) == {"4321"}


async def test_nothing_is_left_of_a_deleted_pod_nor_of_the_node(rig: Rig) -> None:
    await started(rig)
    pod = await rig.create(sh("exec sleep 1000"))
    await rig.running()
    await rig.admin.delete(PODS, "p", "default", grace_seconds=1)
    await rig.gone()
    bridge = network.bridge_name(str(rig.options().directory))
    assert not [name for _, name in socket.if_nameindex() if name.startswith(bridge + "p")]
    assert not groups(f"pod{pod.metadata.uid}")
    await rig.stop_agent()
    assert bridge not in [name for _, name in socket.if_nameindex()]
    assert not groups(f"setpoint-{bridge[2:]}")
