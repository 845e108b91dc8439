"""The hash that names a version of a pod template, the same that Kubernetes computes for it."""

from setpoint.controllers.template_hash.hashing import template_hash

__all__ = ["template_hash"]
