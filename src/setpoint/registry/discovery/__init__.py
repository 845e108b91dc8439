"""Strategies of discovery.k8s.io."""
