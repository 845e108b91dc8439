"""The agent's side of pods' networks: whether they can be had here, and what of them a pod gets (`supervisor/network.py`)."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.kit import logs
from setpoint.node.runtimes.process.template import Template
from setpoint.node.supervisor import records

log = logs.get_logger("node.process")
RECORD = "network.json"
NO_WAY_OUT = (
    "pods reach this host and each other, and nothing beyond: that takes the program nft and a host that forwards "
    "(sysctl net.ipv4.ip_forward=1), or --pod-network host"
)


class Network(Struct, frozen=True):
    """The node's bridge and its range, `10.244.3.0/24`; `out` is whether pods reach the world beyond this host."""

    directory: str
    bridge: str
    range: str
    out: bool = False

    def request(self, address: str, service_address: str) -> Mapping[str, Any]:
        """What a fork of the template is told."""
        return {"bridge": self.bridge, "address": address, "also": service_address, "out": self.out}


async def prepare(template: Template, directory: str) -> tuple[Network | None, str]:
    """The node's network, or why there is none."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None, "only root on Linux can give pods networks of their own"
    path = os.path.join(directory, RECORD)
    before = records.read(path) or {}
    try:
        answer = await template.ask({"net": {"do": "prepare", "dir": directory, "wanted": before.get("range", "")}})
    except OSError as error:
        return None, f"network namespaces cannot be had here ({error})"
    records.write(path, {"range": answer["range"]})
    log.info("pods have networks of their own", range=answer["range"], bridge=answer["bridge"])
    return Network(directory, answer["bridge"], answer["range"], await _way_out(answer["bridge"], answer["range"])), ""


async def _way_out(bridge: str, source: str) -> bool:
    """Let pods go out under the host's address, where `nft` is there and the host forwards: that is the host's to decide."""
    program = shutil.which("nft")
    if program is None or not _forwards():
        return False
    rule = f'ip saddr {source} oifname != "sp*" masquerade'
    chain = f"type nat hook postrouting priority srcnat; {rule}"
    # emptied first, so that it holds the rule once
    return await _nft(program, f"table ip {bridge}; delete table ip {bridge}; table ip {bridge} {{ chain out {{ {chain}; }}; }}")


def _forwards() -> bool:
    try:
        with open("/proc/sys/net/ipv4/ip_forward", encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


async def _nft(program: str, rules: str) -> bool:
    process = await asyncio.create_subprocess_exec(
        program, rules, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    if process.returncode:
        log.warning("nft refused the pods' way out", error=said.decode(errors="replace").strip())
    return process.returncode == 0


async def disconnect(template: Template, network: Network, address: str) -> None:
    """Take a pod's pair away now: the kernel would, some time after its last process."""
    await template.ask({"net": {"do": "disconnect", "bridge": network.bridge, "address": address}})


async def remove(template: Template, network: Network) -> None:
    """Take the bridge away unless pods that this agent lets run are on it."""
    await template.ask({"net": {"do": "remove", "dir": network.directory}})
    if network.out and (program := shutil.which("nft")) is not None:
        await _nft(program, f"delete table ip {network.bridge}")
