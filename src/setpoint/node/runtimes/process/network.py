"""The agent's side of pods' networks: whether they can be had here, and what of them a pod gets (`supervisor/network.py`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.kit import logs
from setpoint.node.runtimes.process.template import Template
from setpoint.node.supervisor import records

log = logs.get_logger("node.process")
RECORD = "network.json"


class Network(Struct, frozen=True):
    """The node's bridge and its range, `10.244.3.0/24`."""

    directory: str
    bridge: str
    range: str

    def request(self, address: str, service_address: str) -> Mapping[str, Any]:
        """What a fork of the template is told."""
        return {"bridge": self.bridge, "address": address, "also": service_address}


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
    return Network(directory, answer["bridge"], answer["range"]), ""


async def disconnect(template: Template, network: Network, address: str) -> None:
    """Take a pod's pair away now: the kernel would, some time after its last process."""
    await template.ask({"net": {"do": "disconnect", "bridge": network.bridge, "address": address}})


async def remove(template: Template, network: Network) -> None:
    """Take the bridge away unless pods that this agent lets run are on it."""
    await template.ask({"net": {"do": "remove", "dir": network.directory}})
