"""Whether a volume can be made for a claim on a node: by its class's provisioner, topology, and what storage is left."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import PersistentVolumeClaim
from setpoint.scheduler.node_info import NodeInfo
from setpoint.scheduler.plugins.volume_claims import Volumes, class_of, requested
from setpoint.scheduler.pod_terms import selector_of

NO_PROVISIONER = "kubernetes.io/no-provisioner"


class Provisioning:
    """See the module."""

    def __init__(self, volumes: Volumes, drivers: Any, capacities: Any) -> None:
        self._volumes = volumes
        self._drivers = drivers
        self._capacities = capacities

    def possible(self, claim: PersistentVolumeClaim, node: NodeInfo) -> bool:
        """The class has a provisioner, which may make volumes for this node."""
        storage_class = self._volumes.storage_class(class_of(claim))
        if storage_class is None or storage_class.provisioner in ("", NO_PROVISIONER):
            return False
        terms = storage_class.allowed_topologies
        return not terms or any(
            all(node.labels.get(each.key) in each.values for each in term.match_label_expressions) for term in terms
        )

    def has_space(self, claim: PersistentVolumeClaim, node: NodeInfo) -> bool:
        """Drivers that report capacity (CSIDriver) have so much left where the node is (CSIStorageCapacity)."""
        storage_class = self._volumes.storage_class(class_of(claim))
        driver = self._drivers.get(storage_class.provisioner) if storage_class is not None else None
        if storage_class is None or driver is None or not driver.spec.storage_capacity:
            return True
        wanted = requested(claim)
        for capacity in self._capacities.list():
            if capacity.storage_class_name != storage_class.metadata.name:
                continue
            limit = capacity.maximum_volume_size or capacity.capacity
            if limit is None or parse(limit) < wanted or capacity.node_topology is None:
                continue
            if selector_of(capacity.node_topology).matches(node.labels):
                return True
        return False
