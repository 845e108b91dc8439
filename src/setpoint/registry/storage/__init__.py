"""Strategies of storage.k8s.io."""
