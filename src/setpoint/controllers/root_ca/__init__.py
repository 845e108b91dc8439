"""The root CA publisher: the cluster's CA in a ConfigMap of every namespace, for pods that talk to the API server."""

from setpoint.controllers.root_ca.controller import new

__all__ = ["new"]
