"""Setpoint: Kubernetes' declarative control plane as a Python package."""

__version__ = "0.1.0"
