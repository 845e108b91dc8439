"""ReplicationControllers: the ReplicaSet controller once more, over converted objects."""

from setpoint.controllers.replication_controller.controller import new

__all__ = ["new"]
