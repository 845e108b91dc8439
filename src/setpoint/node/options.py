"""What can be chosen of a node agent: one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field


class AgentOptions(Struct, frozen=True):
    """One node. Times in seconds.

    `directory` is the node's own and survives it. `pod_cidr` is the node's part of 127.64.0.0/10. `serving_certificate`,
    `serving_key` and `ca` are files; without them the agent serves no port. `api_host` and `api_port` are what pods get as
    KUBERNETES_SERVICE_* on the host's network; empty means the `kubernetes` service's own address. That is `service_host` and
    `service_port`, which pods with networks of their own get. `pod_network` is auto (such networks where they can be had) or
    host; `pod_users` and `cgroups` say whether root gives each pod a user and limits, `max_pids` is the limit on a pod's
    processes (0 is none). `stop_pods` says whether an orderly end of the agent ends its containers, within `stop_seconds`; a
    killed agent always leaves them running.
    """

    name: str
    directory: Path
    address: str = "127.0.0.1"
    port: int = 0
    pod_cidr: str = "127.64.0.0/16"
    serving_certificate: Path | None = None
    serving_key: Path | None = None
    ca: Path | None = None
    client_name: str = "kube-apiserver-kubelet-client"
    api_host: str = ""
    api_port: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    isolation: str = ""
    pod_network: str = "auto"
    pod_users: bool = True
    cgroups: bool = True
    max_pids: int = 4096
    service_host: str = "10.96.0.1"
    service_port: int = 443
    max_pods: int = 110
    lease_seconds: float = 40.0
    heartbeat_period: float = 10.0
    status_report_period: float = 300.0
    stop_pods: bool = True
    stop_seconds: float = 10.0
