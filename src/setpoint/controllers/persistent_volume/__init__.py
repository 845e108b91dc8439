"""PersistentVolumes and their claims: who is bound to whom, and what must stay while it is used.

Source: Kubernetes `pkg/controller/volume/persistentvolume`, `pvcprotection`, `pvprotection`.
"""

from setpoint.controllers.persistent_volume.controller import new, new_claim_protection, new_volume_protection

__all__ = ["new", "new_claim_protection", "new_volume_protection"]
