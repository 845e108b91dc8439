"""VolumeAttachments: volumes of CSI drivers are asked to be attached to the nodes of pods that use them, and detached after them.

Source: Kubernetes `pkg/controller/volume/attachdetach`, `pkg/volume/csi/csi_attacher.go`. Only nodes whose agent leaves it to the
controller, as agents' annotation says. Who attaches is the driver's own attacher.
"""

from setpoint.controllers.attach_detach.controller import new

__all__ = ["new"]
