"""Strategies of coordination.k8s.io."""
